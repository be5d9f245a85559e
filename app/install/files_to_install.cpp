// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include <fcntl.h>

#include <slipway/local_host.hpp>
#include <slipway/regular_file.hpp>

#include "app/install/elf_file.hpp"
#include "app/install/install.hpp"
#include "base/write/scratch_folder.hpp"
#include "core/loader/installation.hpp"

namespace slipway::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestProgram = std::size_t{512} << 20U;
constexpr std::chrono::minutes kStripLimit{2};
constexpr const char* kLibraries = "lib/slipway/libraries/";
constexpr const char* kUnits = "lib/systemd/system/";

/// A program, its folder, and the components of which at least one calls it; empty: always installed.
struct Program {
  const char* folder;
  const char* name;
  std::vector<std::string> components;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all{{"bin", "slipway", {}},
                                        {"bin", "slipway-runtime", {"runtime"}},
                                        {"bin", "slipway-cdi-hook", {"cdi", "runtime"}},
                                        {"libexec/slipway", "slipway-engine", {}},
                                        {"libexec/slipway", "slipway-worker", {}},
                                        {"libexec/slipway", "slipway-artifact.so", {}},
                                        {"libexec/slipway", "slipway-runtime-configure", {"runtime"}},
                                        {"libexec/slipway", "slipway-top", {"dcgm"}}};
  return all;
}

Result<std::string> content_of(const std::string& path) { return read_regular(path, kLargestProgram); }

/// Reads programs and strips debug information.
class Stripper {
 public:
  Result<std::string> read(const std::string& path) {
    SLIPWAY_TRY(content, content_of(path));
    if (!is_elf(content)) return content;
    SLIPWAY_TRY(elf, read_elf(content, path));
    if (!elf.has_debug_parts) return content;
    if (!host_) {
      SLIPWAY_TRY(host, open_host({.root = "/", .live = true}));
      host_ = std::move(host);
      SLIPWAY_TRY(folder, base::ScratchFolder::make(fs::temp_directory_path().string(), "slipway-install"));
      folder_.emplace(std::move(folder));
    }
    const std::string stripped = folder_->path() + "/stripped";
    const auto ran = host_->run({"strip", "--strip-unneeded", "-o", stripped, path}, kStripLimit);
    if (!ran || ran->exit_status != 0)
      return Error{ErrorCode::not_found,
                   "cannot remove the debug information from " + path + ": " + (ran ? ran->errors : ran.error().what),
                   path,
                   "`apt install binutils`, or use the slipway of a package, which has no debug information",
                   {}};
    return content_of(stripped);
  }

 private:
  std::unique_ptr<Host> host_;
  std::optional<base::ScratchFolder> folder_;
};

/// In a portable folder a launcher replaces each program that needs libraries.
std::string program_path(const fs::path& prefix, const std::string& folder, const std::string& name) {
  for (const char* place : {"lib/slipway/programs", folder.c_str(), "bin"})
    if (const fs::path path = prefix / place / name; fs::is_regular_file(path)) return path.string();
  return {};
}

/// Returns the requested components of a plugin; all of them when none is named.
std::vector<core::Manifest> chosen(const core::PluginFile& file, const std::vector<std::string>& components) {
  std::vector<core::Manifest> found;
  for (const core::Manifest& manifest : file.components)
    if (components.empty() || std::ranges::count(components, manifest.component) != 0) found.push_back(manifest);
  return found;
}

Status add_programs(const fs::path& prefix, const std::set<std::string>& components, Stripper& strip,
                    InstalledFiles& files) {
  for (const Program& program : programs()) {
    const auto is_there = [&](const std::string& component) { return components.contains(component); };
    if (!program.components.empty() && std::ranges::none_of(program.components, is_there)) continue;
    const std::string path = program_path(prefix, program.folder, program.name);
    if (path.empty())
      return Error{ErrorCode::not_found,
                   std::string("the program ") + program.name + " is missing, although it is a part of slipway",
                   prefix.string(),
                   "install slipway completely, or build the target `product`",
                   {}};
    SLIPWAY_TRY(content, strip.read(path));
    files.programs[std::string(program.folder) + "/" + program.name] = std::move(content);
  }
  return {};
}

/// Adds the plugin and the files of its services: "gfd.so", "gfd.service.so", "gfd-service". Leaves a service's file
/// out when no requested component has a service.
Status add_plugin(const fs::path& prefix, const fs::path& plugin, bool with_service, Stripper& strip,
                  InstalledFiles& files) {
  const std::string stem = plugin.stem().string();
  for (const fs::directory_entry& entry : fs::directory_iterator(plugin.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !(name.starts_with(stem + ".") || name.starts_with(stem + "-"))) continue;
    if (!with_service && (name == stem + ".service.so" || name == stem + "-service")) continue;
    const fs::path real = prefix / "lib/slipway/programs" / name;
    SLIPWAY_TRY(content, strip.read(fs::is_regular_file(real) ? real.string() : entry.path().string()));
    files.programs["lib/slipway/plugins/" + name] = std::move(content);
  }
  return {};
}

Status add_reference(const fs::path& prefix, InstalledFiles& files) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(prefix / "share/slipway/reference", none)) {
    SLIPWAY_TRY(content, content_of(entry.path().string()));
    files.data["share/slipway/reference/" + entry.path().filename().string()] = std::move(content);
  }
  return {};
}

/// The units that come with slipway itself, and that nothing enables.
constexpr const char* kOwnUnits[] = {"slipway-apply.service", "slipway-ready.target", "slipway-verify.service"};

Status add_units(const RootDir& root, const fs::path& prefix, InstalledFiles& files) {
  if (!root.open_at(std::string("/usr/") + kUnits, O_PATH | O_DIRECTORY)) return {};  // the root has no systemd
  for (const char* name : kOwnUnits) {
    const std::string unit = std::string(kUnits) + name;
    auto content = content_of((prefix / unit).string());
    if (!content && content.error().code == ErrorCode::not_found) continue;  // this slipway has no systemd units
    if (!content) return content.error();
    files.data[unit] = std::move(*content);
  }
  return {};
}

}  // namespace

Result<InstalledFiles> files_to_install(const RootDir& root, const core::Plugins& plugins,
                                        const std::vector<std::string>& components) {
  const fs::path prefix = core::own_prefix();
  InstalledFiles files;
  Stripper strip;
  std::set<std::string> names;
  for (const auto& [path, file] : plugins.files) {
    const std::vector<core::Manifest> wanted = chosen(file, components);
    if (wanted.empty()) continue;
    for (const core::Manifest& manifest : wanted) names.insert(manifest.component);
    const bool with_service = std::ranges::any_of(
        wanted, [](const core::Manifest& manifest) { return manifest.service != core::Manifest::ServiceIn::none; });
    SLIPWAY_CHECK(add_plugin(prefix, path, with_service, strip, files));
  }
  SLIPWAY_CHECK(add_programs(prefix, names, strip, files));
  SLIPWAY_CHECK(add_reference(prefix, files));
  SLIPWAY_CHECK(add_units(root, prefix, files));
  SLIPWAY_TRY(libraries, missing_libraries(root, files.programs, (prefix / kLibraries).lexically_normal().string()));
  for (auto& [name, content] : libraries) {
    files.libraries.push_back(name);
    files.data[kLibraries + name] = std::move(content);
  }
  for (const FileContents* each : {&files.programs, &files.data})
    for (const auto& [path, content] : *each) files.bytes += content.size();
  return files;
}

}  // namespace slipway::app
