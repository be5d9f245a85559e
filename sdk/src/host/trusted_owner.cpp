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

#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

/// Has the user namespace a user of this number (the lines of /proc/PID/uid_map: inside, outside, count)?
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

/// Whether it has an access control list, or may have one. The group's bits of its mode are then what anybody named in
/// the list may do at most, not what the group may (acl(5)).
bool may_have_acl(int fd) {
  const std::string file = "/proc/self/fd/" + std::to_string(fd);  // fgetxattr(2) takes no descriptor of O_PATH
  return ::getxattr(file.c_str(), "system.posix_acl_access", nullptr, 0) >= 0 ||
         (errno != ENODATA && errno != EOPNOTSUPP);
}

/// Who besides root and the caller may write there: "user 1000 owns", "group 100 may write to"; empty: nobody.
std::string other_writer(int fd, const struct stat& info) {
  if (!is_trusted_owner(info.st_uid)) return "user " + std::to_string(info.st_uid) + " owns";
  if (S_ISLNK(info.st_mode)) return {};                                        // a link's own mode bits mean nothing
  const bool shared = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;  // as /tmp: owners alone replace things
  if ((info.st_mode & S_IWOTH) != 0 && !shared) return "everybody may write to";
  if ((info.st_mode & S_IWGRP) == 0 || shared) return {};
  if (info.st_gid != 0 && info.st_gid != ::getegid()) return "group " + std::to_string(info.st_gid) + " may write to";
  return may_have_acl(fd) ? "somebody named in its access control list may write to" : "";
}

Status check_one(const RootDir& root, std::string_view wanted, const std::string& at, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error("look at", at, errno);
  const std::string writer = other_writer(fd, info);
  if (writer.empty()) return {};
  const std::string above = root.folder() == "/" ? "" : root.folder();
  const std::string place = at == "/" && !above.empty() ? above : above + at;
  const bool owned = !is_trusted_owner(info.st_uid);
  const std::string file = above + std::string(wanted);
  return Error{.code = ErrorCode::denied,
               .what = writer + " " + place + (place == file ? "" : " and could write " + file) +
                       ", so what it says is not believed",
               .where = place,
               .next = "look at what is there; if all of it is yours, `" +
                       (owned ? "chown " + std::to_string(::geteuid()) + " " : std::string("chmod go-w ")) + place +
                       "`; if not, take a root of your own"};
}

constexpr int kMostOwnerLinks = 40;  // as the kernel has it

std::string target_of(const Fd& link) {
  std::string target(4096, '\0');
  const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

/// The names of a path, the last one first.
std::vector<std::string> names_backwards(const std::string& path) {
  std::vector<std::string> names;
  std::istringstream parts(path);
  for (std::string name; std::getline(parts, name, '/');)
    if (!name.empty() && name != ".") names.push_back(name);
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace

bool is_trusted_owner(uid_t owner, uid_t caller, const std::string& proc) {
  if (owner == 0 || owner == caller) return true;
  uid_t overflow = 0;
  std::ifstream(proc + "/sys/kernel/overflowuid") >> overflow;
  if (owner != overflow || is_mapped(owner, proc)) return false;
  // What belongs to them could be replaced by them already.
  const auto has = [&](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_uid == owner;
  };
  return has(proc + "/self/root") || has(proc + "/self/exe");
}

bool is_trusted_owner(uid_t owner) { return is_trusted_owner(owner, ::geteuid(), "/proc"); }

// As the kernel walks: each name, each link where it stands, and each name of what that leads to.
Status check_only_ours(const RootDir& root, std::string_view path) {
  SLIPWAY_CHECK(check_one(root, path, "/", root.fd()));
  std::vector<std::string> names = names_backwards(std::string(path));
  std::string at;
  for (int links = 0; !names.empty();) {
    const std::string name = names.back();
    names.pop_back();
    if (name == "..") {
      at.erase(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + name;
    const auto place = root.open_at(next, O_PATH | O_NOFOLLOW);
    if (!place) return place.error().code == ErrorCode::not_found ? Status{} : Status(place.error());
    SLIPWAY_CHECK(check_one(root, path, next, place->get()));
    struct stat info {};
    if (::fstat(place->get(), &info) != 0) return system_error("look at", next, errno);
    if (!S_ISLNK(info.st_mode)) {
      at = next;
      continue;
    }
    if (++links > kMostOwnerLinks) return system_error("follow", next, ELOOP);
    const std::string target = target_of(*place);
    if (target.starts_with('/')) at.clear();
    const std::vector<std::string> more = names_backwards(target);
    names.insert(names.end(), more.begin(), more.end());
  }
  return {};
}

}  // namespace slipway
