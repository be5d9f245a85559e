// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"
#include "hook.hpp"

namespace slipway::hook {
namespace {

constexpr std::size_t kLargestDocument = 16U << 20;  // annotations and the edits of many devices make it large

Error malformed(const std::string& what, const std::string& where) {
  return Error{ErrorCode::invalid,
               what,
               where,
               "a container runtime starts this program; by hand, name a state file: "
               "--container-spec FILE",
               {}};
}

Result<Json> read_document(int fd, const std::string& name) {
  SLIPWAY_TRY(text, read_all(fd, name, kLargestDocument));
  Json value = parse_foreign(text);
  if (!value.is_object()) return malformed(name + " is not a JSON object", name);
  return value;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> root_of(const Json& state) {
  if (const std::string root = text_at(state, "root"); !root.empty()) return root;
  const std::string bundle = text_at(state, "bundle");
  if (bundle.empty())
    return malformed("the container's state names neither its root nor its bundle", "container state");
  const std::string file = bundle + "/config.json";
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("open", file, errno);
  SLIPWAY_TRY(config, read_document(fd.get(), file));
  const auto root = config.find("root");
  const std::string path = root != config.end() && root->is_object() ? text_at(*root, "path") : "";
  if (path.empty()) return malformed(file + " has no root.path", file);
  return path.starts_with('/') ? path : bundle + "/" + path;
}

/// A mistake in a bundle must not make the hooks change the host itself.
Status refuse_own_root(const RootDir& root) {
  struct stat theirs {};
  struct stat ours {};
  if (::fstat(root.fd(), &theirs) != 0) return system_error("look at", root.folder(), errno);
  if (::stat("/", &ours) != 0) return system_error("look at", "/", errno);
  if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) return {};
  return Error{ErrorCode::denied,
               "the container's root is the root of this system",
               root.folder(),
               "give the container a root of its own",
               {}};
}

/// Returns the number of an open file's mount; before Linux 5.8 the device of its file system.
std::optional<std::pair<bool, std::uint64_t>> mount_of(int fd) {
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return std::nullopt;
  if ((info.stx_mask & STATX_MNT_ID) != 0) return std::pair(true, std::uint64_t{info.stx_mnt_id});
  return std::pair(false, (std::uint64_t{info.stx_dev_major} << 32U) | info.stx_dev_minor);
}

}  // namespace

Result<Container> read_container(const std::string& file) {
  const bool named = !file.empty() && file != "-";
  Fd fd(named ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC) : ::dup(STDIN_FILENO));
  if (!fd) return system_error("open", named ? file : "standard input", errno);
  SLIPWAY_TRY(state, read_document(fd.get(), named ? file : "container state"));
  SLIPWAY_TRY(path, root_of(state));
  SLIPWAY_TRY(root, RootDir::open(path));
  SLIPWAY_CHECK(refuse_own_root(root));
  return Container{std::move(root)};
}

bool is_in_volume(const RootDir& root, const std::string& path) {
  if (path == "/dev" || path.starts_with("/dev/")) return false;
  // Missing folders would be created in the deepest folder that exists.
  std::string existing = path;
  auto file = root.open_at(existing, O_PATH);
  while (!file && !existing.empty()) {
    existing.erase(std::min(existing.rfind('/'), existing.size()));
    file = root.open_at(existing.empty() ? "/" : existing, O_PATH);
  }
  return file && is_in_volume(root, file->get(), path);
}

bool is_in_volume(const RootDir& root, int opened, const std::string& path) {
  if (path == "/dev" || path.starts_with("/dev/")) return false;
  const auto own = mount_of(root.fd());
  const auto found = mount_of(opened);
  if (!own || !found || *own == *found) return false;
  std::fprintf(stderr, "slipway-cdi-hook: %s is in a volume of the container, and is left as it is\n", path.c_str());
  return true;
}

Status make_own_folders(const RootDir& root, const std::string& folder) {
  constexpr mode_t kMode = 0755;
  if (is_in_volume(root, folder)) return {};
  for (auto end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string each = folder.substr(0, end);
    if (!root.open_at(each, O_PATH | O_DIRECTORY)) {
      SLIPWAY_TRY(place, root.parent_of(each));
      if (is_in_volume(root, place.first.get(), each)) return {};
      if (::mkdirat(place.first.get(), place.second.c_str(), kMode) != 0 && errno != EEXIST)
        return system_error("make the folder", each, errno);
    }
    if (end == std::string::npos) return {};
  }
}

Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (is_in_volume(root, folder)) return {};
  SLIPWAY_TRY(place, root.parent_of(path));
  if (is_in_volume(root, place.first.get(), folder)) return {};
  return base::write_and_rename(place.first.get(), base::unique_name("." + place.second + base::kNewSuffix),
                                place.second, path, base::NewFile::ours(mode),
                                [&](int fd) { return base::write_all(fd, content, path); });
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace slipway::hook
