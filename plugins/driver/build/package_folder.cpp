// SPDX-License-Identifier: Apache-2.0
#include "driver/build/package_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "driver/build/confined_deb.hpp"
#include "driver/detect/existing_driver.hpp"
#include "driver/detect/root_layout.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownBytes = 100;

constexpr const char* kTools[] = {"nvidia-smi", "nvidia-debugdump", "nvidia-cuda-mps-control",
                                  "nvidia-cuda-mps-server"};

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_copyright(const std::string& path) {
  return path.starts_with("usr/share/doc/") && path.ends_with("/copyright");
}

// Returns the target of a path in a user space package: real libraries by their versioned names, tools, OpenCL's list.
std::string userspace_path(const std::string& path, const std::string& libdir, const std::string& version) {
  const std::string name = file_name(path);
  if (is_copyright(path)) return path;
  if (path.starts_with("usr/lib/") && name.ends_with(".so." + version)) return libdir + "/" + name;
  if (path.starts_with("etc/OpenCL/vendors/")) return path;
  const bool in_program_folder =
      path.starts_with("usr/bin/") || path.starts_with("usr/sbin/") || path.starts_with("usr/lib/nvidia/");
  if (in_program_folder && std::ranges::find(kTools, name) != std::end(kTools)) return "usr/bin/" + name;
  return {};
}

// True for files that are not needed: manuals, changelogs, and the files of Debian's own tools.
bool is_documentation(const std::string& path) {
  static const std::regex manual(R"(\.[1-9]\.gz$)");
  return path.starts_with("usr/share/doc/") || path.starts_with("usr/share/man/") ||
         path.starts_with("usr/share/bug/") || path.starts_with("usr/share/lintian/") ||
         std::regex_search(path, manual);
}

Status make_link(const fs::path& link, const std::string& target) {
  std::error_code code;
  fs::create_symlink(target, link, code);
  if (code && code != std::errc::file_exists) return system_error("make a link", link.string(), code.value());
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& file : fs::directory_iterator(folder, code)) names.push_back(file.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// True for a plain name: a link of that name is created inside the folder only.
bool is_file_name(const std::string& name) {
  return name.size() < 256 && name != "." && name != ".." &&
         std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c < 0x7F && c != '/'; });
}

// Links libcuda.so.1 to libcuda.so.535.261.03, and libcuda.so too for libraries that programs are linked against.
Result<std::vector<std::string>> link_libraries(const fs::path& folder) {
  const std::set<std::string> linked_against{"libcuda", "libnvidia-ml", "libnvcuvid", "libnvidia-encode",
                                             "libnvidia-opticalflow"};
  std::vector<std::string> public_names;
  for (const auto& name : names_in(folder)) {
    const std::string soname = read_soname((folder / name).string());
    const std::string loaded_as = soname.empty() ? name : soname;
    if (!is_file_name(loaded_as))
      return Error{ErrorCode::corrupt,
                   fmt::format("the library {} has the SONAME '{}', which is not a file name", name,
                               loaded_as.substr(0, kShownBytes)),
                   (folder / name).string(),
                   "use the packages of Debian",
                   {}};
    public_names.push_back(loaded_as);
    if (loaded_as != name) SLIPWAY_CHECK(make_link(folder / loaded_as, name));
    const std::string stem = name.substr(0, name.find(".so."));
    if (!linked_against.contains(stem)) continue;
    SLIPWAY_CHECK(make_link(folder / (stem + ".so"), loaded_as));
    public_names.push_back(stem + ".so");
  }
  std::ranges::sort(public_names);
  return public_names;
}

}  // namespace

Result<PackageFiles> lay_out_userspace(const DriverDebs& driver, const std::string& into,
                                       std::vector<std::string>& left_out) {
  PackageFiles files;
  files.libdir = "usr/lib/" + debian_triplet(machine_of(driver.architecture));
  std::vector<std::pair<std::string, std::string>> others;  // path, package
  for (const auto& deb : driver.userspace) {
    std::vector<std::string> paths;
    SLIPWAY_CHECK(unpack_deb_confined(
        deb.file, into, [&](const std::string& path) { return userspace_path(path, files.libdir, driver.version); },
        &paths));
    for (const auto& path : paths)
      if (!is_documentation(path)) others.emplace_back(path, deb.package);
  }
  SLIPWAY_TRY(libraries, link_libraries(fs::path(into) / files.libdir));
  files.libraries = libraries;
  for (const auto& [path, package] : others)  // links to libraries are created again
    if (!fs::exists(fs::path(into) / files.libdir / file_name(path)))
      left_out.push_back(fmt::format("{} ({})", path, package));
  files.tools = names_in(fs::path(into) / "usr/bin");
  files.icds = names_in(fs::path(into) / "etc/OpenCL/vendors");
  return files;
}

Status lay_out_firmware(const DriverDebs& driver, const std::string& into) {
  const std::string folder = fmt::format("nvidia/{}/", driver.version);
  for (const auto& deb : driver.firmware)
    SLIPWAY_CHECK(unpack_deb_confined(deb.file, into, [&](const std::string& path) -> std::string {
      if (is_copyright(path)) return path;
      if (path.find("lib/firmware/" + folder) == std::string::npos || !path.ends_with(".bin")) return {};
      return folder + file_name(path);
    }));
  return {};
}

Result<SourceTree> lay_out_source(const DriverDebs& driver, const std::string& into) {
  SourceTree source;
  source.directory = "nvidia-" + driver.version;
  const DebInfo& deb = driver.source.front();
  SLIPWAY_CHECK(unpack_deb_confined(deb.file, into, [&](const std::string& path) -> std::string {
    if (is_copyright(path)) return path;
    if (path.starts_with("usr/share/doc/") && path.ends_with("/README.md.gz")) return std::string(kReadme);
    if (!path.starts_with("usr/src/")) return {};
    const auto slash = path.find('/', std::string_view("usr/src/").size());
    return slash == std::string::npos ? source.directory : source.directory + path.substr(slash);
  }));
  const fs::path top = fs::path(into) / source.directory;
  if (!fs::exists(top / "Makefile"))
    return Error{ErrorCode::corrupt, "the source package has no Makefile", deb.file, "use Debian's DKMS package", {}};
  // nvidia-peermem is left out: a module that was built without the peer-memory API of an RDMA stack refuses to load.
  for (const auto* module : {"nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm"})
    if (fs::is_directory(top / module)) source.modules.emplace_back(module);
  return source;
}

Status lay_out_headers(const std::vector<DebInfo>& debs, const std::string& into) {
  for (const auto& deb : debs)
    SLIPWAY_CHECK(unpack_deb_confined(
        deb.file, into, [](const std::string& path) { return path.starts_with("usr/share") ? std::string{} : path; }));
  return {};
}

}  // namespace slipway::driver
