// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/host.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

/// True when the user namespace has a user of this number (the lines of /proc/PID/uid_map: inside, outside, count).
bool is_mapped(uid_t user, const std::string& proc) {
  std::ifstream map(proc + "/self/uid_map");
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  bool any = false;
  while (map >> inside >> outside >> count) {
    any = true;
    if (user >= inside && user - inside < count) return true;
  }
  return !any;  // a kernel without user namespaces
}

/// True when the file has, or may have, an access control list. The group bits of its mode are then the maximum rights
/// of the users in the list, not the rights of the group (acl(5)).
bool may_have_acl(int fd) {
  const std::string file = "/proc/self/fd/" + std::to_string(fd);  // fgetxattr(2) does not accept an O_PATH descriptor
  return ::getxattr(file.c_str(), "system.posix_acl_access", nullptr, 0) >= 0 ||
         (errno != ENODATA && errno != EOPNOTSUPP);
}

/// A name on the way to a file.
struct PathStep {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;     ///< including the type
  std::string target;  ///< of a link
  bool may_have_acl = false;
};

/// Returns who besides root and the caller may write there: "user 1000 owns", "group 100 may write to"; empty: no one.
std::string other_writer(const PathStep& seen) {
  if (!is_trusted_owner(seen.uid)) return "user " + std::to_string(seen.uid) + " owns";
  if (S_ISLNK(seen.mode)) return {};                                     // a link's own mode bits have no meaning
  const bool shared = S_ISDIR(seen.mode) && (seen.mode & S_ISVTX) != 0;  // like /tmp: only owners replace things
  if ((seen.mode & S_IWOTH) != 0 && !shared) return "every user may write to";
  if ((seen.mode & S_IWGRP) == 0 || shared) return {};
  if (seen.gid != 0 && seen.gid != ::getegid()) return "group " + std::to_string(seen.gid) + " may write to";
  return seen.may_have_acl ? "a user named in its access control list may write to" : "";
}

/// @param above  the root's own folder; empty: "/", or unknown
Status check_one(const std::string& above, std::string_view wanted, const std::string& at, const PathStep& seen) {
  const std::string writer = other_writer(seen);
  if (writer.empty()) return {};
  const std::string place = at == "/" && !above.empty() ? above : above + at;
  const bool owned = !is_trusted_owner(seen.uid);
  const std::string file = above + std::string(wanted);
  return Error{.code = ErrorCode::denied,
               .what = writer + " " + place + (place == file ? "" : " and could write " + file) +
                       ", so its content is not trusted",
               .where = place,
               .next = "check the files there; if all of them are yours, `" +
                       (owned ? "chown " + std::to_string(::geteuid()) + " " : std::string("chmod go-w ")) + place +
                       "`; otherwise use a root of your own"};
}

constexpr int kMostOwnerLinks = 40;  // the kernel's limit

std::string target_of(const Fd& link) {
  std::string target(4096, '\0');
  const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

Result<PathStep> read_step(int fd, const std::string& at) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error("look at", at, errno);
  const bool group_writes = !S_ISLNK(info.st_mode) && (info.st_mode & S_IWGRP) != 0;
  return PathStep{info.st_uid, info.st_gid, info.st_mode, {}, group_writes && may_have_acl(fd)};
}

Result<PathStep> look(const RootDir& root, const std::string& at) {
  if (at == "/") return read_step(root.fd(), at);
  SLIPWAY_TRY(place, root.open_at(at, O_PATH | O_NOFOLLOW));
  SLIPWAY_TRY(seen, read_step(place.get(), at));
  if (S_ISLNK(seen.mode)) seen.target = target_of(place);
  return seen;
}

Result<PathStep> look(const Host& host, const std::string& at) {
  SLIPWAY_TRY(info, host.info(at));
  using Type = FileInfo::Type;
  const bool is_link = info.type == Type::symlink;
  const mode_t type = is_link ? S_IFLNK : info.type == Type::directory ? S_IFDIR : S_IFREG;
  PathStep seen{info.uid, info.gid, type | info.mode, {}, true};
  if (is_link) {
    SLIPWAY_TRY(target, host.read_link(at));
    seen.target = std::move(target);
  }
  return seen;
}

/// Returns the names of a path, the last one first.
std::vector<std::string> reversed_names(const std::string& path) {
  std::vector<std::string> names;
  std::istringstream parts(path);
  for (std::string name; std::getline(parts, name, '/');)
    if (!name.empty() && name != ".") names.push_back(name);
  std::reverse(names.begin(), names.end());
  return names;
}

/// Walks like the kernel: each name, each link at its place, and each name of its target.
/// @param place  a RootDir or a Host
/// @return true when the whole path exists
template <class Place>
Result<bool> check_way(const Place& place, const std::string& above, std::string_view path) {
  SLIPWAY_TRY(top, look(place, "/"));
  SLIPWAY_CHECK(check_one(above, path, "/", top));
  std::vector<std::string> names = reversed_names(std::string(path));
  std::string at;
  for (int links = 0; !names.empty();) {
    const std::string name = names.back();
    names.pop_back();
    if (name == "..") {
      at.erase(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + name;
    const auto seen = look(place, next);
    if (!seen && seen.error().code == ErrorCode::not_found) return false;
    if (!seen) return seen.error();
    SLIPWAY_CHECK(check_one(above, path, next, *seen));
    if (!S_ISLNK(seen->mode)) {
      at = next;
      continue;
    }
    if (++links > kMostOwnerLinks) return system_error("follow", next, ELOOP);
    if (seen->target.starts_with('/')) at.clear();
    const std::vector<std::string> more = reversed_names(seen->target);
    names.insert(names.end(), more.begin(), more.end());
  }
  return true;
}

}  // namespace

bool is_trusted_owner(uid_t owner, uid_t caller, const std::string& proc) {
  if (owner == 0 || owner == caller) return true;
  uid_t overflow = 0;
  std::ifstream(proc + "/sys/kernel/overflowuid") >> overflow;
  if (owner != overflow || is_mapped(owner, proc)) return false;
  // Their owners could already replace these files.
  const auto has = [&](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_uid == owner;
  };
  return has(proc + "/self/root") || has(proc + "/self/exe");
}

bool is_trusted_owner(uid_t owner) { return is_trusted_owner(owner, ::geteuid(), "/proc"); }

Status check_only_ours(const RootDir& root, std::string_view path) {
  SLIPWAY_CHECK(exists_and_is_trusted(root, path));
  return {};
}

Status check_only_ours(const Host& host, std::string_view path) {
  SLIPWAY_CHECK(exists_and_is_trusted(host, path));
  return {};
}

Result<bool> exists_and_is_trusted(const RootDir& root, std::string_view path) {
  return check_way(root, root.folder() == "/" ? "" : root.folder(), path);
}

Result<bool> exists_and_is_trusted(const Host& host, std::string_view path) { return check_way(host, "", path); }

}  // namespace slipway
