// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/driver_files.hpp"

#include <algorithm>

#include <fnmatch.h>

#include "nvidia/library_folders.hpp"
#include "toolkit/cdi/libraries.hpp"
#include "toolkit/cdi/programs.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Edits;
using nvidia::cdi::Mount;

bool fits(const char* pattern, const std::string& name) { return ::fnmatch(pattern, name.c_str(), 0) == 0; }

/// "libcuda.so" of "libcuda.so.1".
std::string without_version(const std::string& soname) {
  const auto at = soname.find(".so");
  return at == std::string::npos ? std::string() : soname.substr(0, at + 3);
}

/// Moves a library below one of the usual folders to another folder, and keeps subfolders such as "vdpau".
std::string moved_library(const std::string& path, const std::string& folder) {
  std::string_view longest;
  for (const std::string_view usual : nvidia::kLibraryFolders)
    if (usual.size() > std::max<std::size_t>(1, longest.size()) && path.starts_with(std::string(usual) + "/"))
      longest = usual;
  return longest.empty() ? path : folder + path.substr(longest.size());
}

}  // namespace

Mount file_mount(const std::string& host, const std::string& container) {
  return {host, container, {"ro", "nosuid", "nodev", "rbind", "rprivate"}, ""};
}

std::string DriverFiles::container_of(const std::string& real) const {
  const std::string path = container_path(real);
  if (options_.hooks) return path;
  return options_.library_folder.empty() ? standard_path(path)
                                         : moved_library(standard_path(path), options_.library_folder);
}

void DriverFiles::mount(const std::string& real, const std::string& container, Edits& edits) const {
  edits.mounts.push_back(file_mount(roots_.host_path(real), container));
}

std::vector<std::string> DriverFiles::links_of(const Found& library) const {
  const std::string name = file_name(library.real);
  const std::string folder = folder_of(container_of(library.real));
  std::vector<std::string> links;
  if (fits("libcuda.so.*.*", name)) links.push_back("libcuda.so.1::" + folder + "/libcuda.so");
  if (fits("libGLX_nvidia.so.*.*", name)) links.push_back(name + "::" + folder + "/libGLX_indirect.so.0");
  if (fits("libnvidia-opticalflow.so.*.*", name))
    links.push_back("libnvidia-opticalflow.so.1::" + folder + "/libnvidia-opticalflow.so");
  if (!fits("*.*.*", name)) return links;
  std::string soname = read_soname(roots_.driver, library.real);
  if (soname.find('/') != std::string::npos) return links;
  if (soname.empty()) soname = name;
  // Without hooks ldconfig does not run in the container, which would create the link.
  if (soname != name && (!options_.hooks || search_.link_beside(library, soname)))
    links.push_back(name + "::" + folder + "/" + soname);
  const std::string plain = without_version(soname);
  if (!plain.empty() && plain != soname && search_.link_beside(library, plain))
    links.push_back(soname + "::" + folder + "/" + plain);
  return links;
}

void DriverFiles::give_names(const Found& library, const std::vector<std::string>& links,
                             std::vector<std::string>& all_links, Edits& edits) const {
  for (const std::string& link : links)
    if (options_.hooks)
      add_once(all_links, link);
    else
      mount(library.real, link.substr(link.find("::") + 2), edits);
}

Status DriverFiles::add_libraries(bool device_node_modification, Edits& edits) const {
  SLIPWAY_TRY(libraries, find_driver_libraries(search_, version_, options_.explicit_libraries));
  std::vector<std::string> links;
  std::string cuda_folders;
  for (const Found& library : libraries.files) {
    const std::string container = container_of(library.real);
    mount(library.real, container, edits);
    give_names(library, links_of(library), links, edits);
    if (fits("libcuda.so.*.*", file_name(library.real)))
      cuda_folders += (cuda_folders.empty() ? "" : ":") + folder_of(container);
  }
  hooks_.create_symlinks(links, edits);
  hooks_.add("enable-cuda-compat", {"--host-driver-version=" + version_}, edits);
  hooks_.update_ldcache(libraries.folders, edits);
  if (device_node_modification) hooks_.add("disable-device-node-modification", {}, edits);
  if (!cuda_folders.empty()) edits.env.push_back("NVIDIA_CTK_LIBCUDA_DIR=" + cuda_folders);
  return {};
}

std::vector<std::string> DriverFiles::add_programs(bool graphics, Edits& edits) const {
  std::vector<std::string> names{
      "nvidia-smi",  "nvidia-debugdump", "nvidia-persistenced", "nvidia-cuda-mps-control", "nvidia-cuda-mps-server",
      "nvidia-imex", "nvidia-imex-ctl"};
  if (graphics) names.emplace_back("nvidia-xconfig");
  std::vector<std::string> folders;
  for (const Found& library : search_.find("libcuda.so." + version_))
    for (const std::string& path : {library.path, library.real}) add_once(folders, folder_of(path));
  DriverPrograms programs = find_driver_programs(roots_.driver, names, folders, options_.program_folders);
  for (const Found& program : programs.files) mount(program.real, program.path, edits);
  return std::move(programs.notes);
}

void DriverFiles::add_firmware(Edits& edits) const {
  std::vector<std::string> folders{roots_.kernel.attribute("/sys/module/firmware_class/parameters/path")};
  const std::string release = roots_.kernel.kernel_release().value_or("");
  for (const std::string base : {"/lib/firmware/updates/", "/lib/firmware/"}) {
    if (!release.empty()) folders.push_back(base + release);
    folders.push_back(base.substr(0, base.size() - 1));
  }
  std::vector<std::string> seen;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    const std::string place = folder + "/nvidia/" + version_;
    for (const Found& found : search_.find_in(place, "gsp*.bin")) {
      if (std::ranges::find(seen, found.real) != seen.end()) continue;
      seen.push_back(found.real);
      mount(found.real, found.path, edits);
    }
  }
}

void DriverFiles::add_sockets(Edits& edits) const {
  std::vector<std::string> seen;
  const auto add = [&](const std::string& path) {
    const auto real = roots_.driver.resolve(path);
    if (!real || std::ranges::find(seen, *real) != seen.end()) return;
    seen.push_back(*real);
    edits.mounts.push_back({roots_.host_path(*real), path, {"nosuid", "nodev", "rbind", "rprivate", "noexec"}, ""});
  };
  for (const char* socket : {"/nvidia-persistenced/socket", "/nvidia-fabricmanager/socket"})
    for (const std::string run : {"/run", "/var/run"}) add(run + socket);
  add("/tmp/nvidia-mps");
}

}  // namespace slipway::toolkit
