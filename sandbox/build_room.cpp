// SPDX-License-Identifier: Apache-2.0
#include "sandbox/build_room.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>

#include <slipway/root_dir.hpp>

#include "base/write/tree.hpp"
#include "core/host/files.hpp"

namespace slipway::sandbox {
namespace {

namespace fs = std::filesystem;

/// Folders that are empty in the sandbox, or that the sandbox replaces by its own.
constexpr std::array<std::string_view, 6> kNeverShown{"/tmp/", "/var/tmp/", "/run/", "/dev/", "/proc/", "/sys/"};

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

/// Returns the time as `date` prints it in the C locale, which kernel makefiles expect.
std::string timestamp(std::int64_t epoch) {
  const auto time = static_cast<std::time_t>(epoch);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  (void)std::strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &parts);
  return text;
}

std::vector<std::string> environment_of(const BuildRequest& request) {
  std::map<std::string, std::string> variables;
  const auto set = [&](const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  };
  for (const std::string& variable : sandbox_environment()) set(variable);
  const std::int64_t epoch = request.source_date_epoch.value_or(0);
  set("KBUILD_BUILD_USER=slipway");
  set("KBUILD_BUILD_HOST=slipway");
  set("KBUILD_BUILD_TIMESTAMP=" + timestamp(epoch));
  set("SOURCE_DATE_EPOCH=" + std::to_string(epoch));
  for (const Json& variable : request.build.value("environment", Json::array())) set(variable.get<std::string>());
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(name + "=" + value);
  return list;
}

/// The layers over a folder of the root: ours, the existing folders of the headers, then the root's own.
struct Layering {
  const BuildRequest& request;
  const RootDir& root;

  /// Returns the host path of a folder of the root, following links inside it; empty when it does not exist.
  std::string in_root(const std::string& path) const {
    const auto real = root.resolve(path);
    if (!real || !is_folder(root.folder() + *real)) return {};
    return root.folder() + *real;
  }

  /// Adds folders of the headers tree, but no links: one in the tree (lib -> usr/lib) repeats its target, and one from
  /// a package may lead anywhere on this machine.
  void add_headers(std::vector<std::string>& layers, const std::string& path) const {
    if (request.headers.empty()) return;
    const auto headers = RootDir::open(request.headers);
    const auto real = headers ? headers->resolve(path) : Result<std::string>(headers.error());
    if (real && *real == path && is_folder(request.headers + path)) layers.push_back(request.headers + path);
  }

  /// Adds modules and kernel tools: lib and usr/lib, which are the same folder in a merged-/usr root.
  void add_libraries(std::vector<SandboxOverlay>& overlays) const {
    const std::string lib = in_root("/lib");
    const std::string usr_lib = in_root("/usr/lib");
    const auto lay = [&](std::vector<std::string> layers, const std::string& below, const std::string& target) {
      if (layers.empty() || below.empty()) return;
      layers.push_back(below);
      overlays.push_back({std::move(layers), target});
    };
    std::vector<std::string> overlays_of_usr_lib;
    std::vector<std::string> over_lib;
    add_headers(overlays_of_usr_lib, "/usr/lib");
    add_headers(lib == usr_lib ? overlays_of_usr_lib : over_lib, "/lib");
    lay(overlays_of_usr_lib, usr_lib, "/usr/lib");
    lay(over_lib, lib, "/lib");
  }
};

/// Creates the folder to show the source at: the root may lack it, and cannot be changed.
Status make_mount_points(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder / "src" / fs::path(kBuildFolder).filename(), code);
  if (code) return system_error("make the folder", folder.string(), code.value());
  return {};
}

Result<std::vector<SandboxOverlay>> overlays_of(const BuildRequest& request, const std::string& mount_points) {
  SLIPWAY_TRY(root, RootDir::open(request.root));
  const Layering layering{request, root};
  std::vector<SandboxOverlay> overlays;
  const bool has_src = !layering.in_root("/usr/src").empty();
  const std::string target = has_src ? "/usr/src" : "/usr";
  const std::string below = layering.in_root(target);
  if (below.empty())
    return Error{ErrorCode::invalid, "the root has no /usr, so nothing can be compiled in it", request.root, {}, {}};
  SandboxOverlay sources{{has_src ? mount_points + "/src" : mount_points}, target};
  layering.add_headers(sources.layers, target);
  sources.layers.push_back(below);
  overlays.push_back(std::move(sources));
  layering.add_libraries(overlays);
  return overlays;
}

/// Hides the keys that sign the modules afterwards, which may be in the compiling root: an empty file replaces them.
Status hide_keys(const BuildRequest& request, const std::string& empty, std::vector<SandboxBind>& binds) {
  const Fd file(::open(empty.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  if (!file) return system_error("create", empty, errno);
  std::error_code code;
  const fs::path top = fs::canonical(request.root, code);
  std::set<std::string> hidden;
  for (const Json& each : request.build.value("collect", Json::array())) {
    const fs::path key = fs::canonical(each.value("sign_key", ""), code);
    if (code) continue;
    const std::string inside = "/" + key.lexically_relative(top).string();
    const bool elsewhere = inside.starts_with("/..") || std::ranges::any_of(kNeverShown, [&](std::string_view folder) {
                             return inside.starts_with(folder);
                           });
    if (!elsewhere && hidden.insert(inside).second) binds.push_back({empty, inside, true});
  }
  return {};
}

}  // namespace

Result<BuildRoom> BuildRoom::open(const BuildRequest& request) {
  BuildRoom room;
  room.folder_ = request.source + ".slipway-build";
  std::error_code code;
  SLIPWAY_CHECK(base::remove_tree(room.folder_));  // left by a killed run
  fs::create_directories(room.folder_, code);
  if (code) return system_error("make the folder", room.folder_, code.value());
  const std::string source = room.source_folder();
  SLIPWAY_CHECK(core::copy_tree(request.source, source));
  SLIPWAY_CHECK(make_mount_points(room.folder_ + "/mount-points"));
  SLIPWAY_TRY(overlays, overlays_of(request, room.folder_ + "/mount-points"));

  const std::string directory = request.build.value("directory", "");
  Sandbox& sandbox = room.sandbox_;
  sandbox.root = request.root;
  sandbox.read_only = true;
  sandbox.overlays = std::move(overlays);
  sandbox.binds = {{source, kBuildFolder, false}};
  SLIPWAY_CHECK(hide_keys(request, room.folder_ + "/no-key", sandbox.binds));
  sandbox.directory = std::string(kBuildFolder) + (directory.empty() ? "" : "/" + directory);
  sandbox.environment = environment_of(request);
  sandbox.limit = request.limit;
  sandbox.cancel = request.cancel;
  return room;
}

BuildRoom::BuildRoom(BuildRoom&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), sandbox_(std::move(other.sandbox_)) {}

BuildRoom::~BuildRoom() {
  if (!folder_.empty()) (void)base::remove_tree(folder_).ok();
}

}  // namespace slipway::sandbox
