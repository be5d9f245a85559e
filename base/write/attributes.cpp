// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string_view>
#include <vector>

#include <sys/xattr.h>

#include "base/write/new_file.hpp"

namespace slipway::base {
namespace {

constexpr std::string_view kAcl = "system.posix_acl_access";

/// Returns a name for the l*xattr calls, which have no "at" form: it goes through /proc/self/fd to the open folder.
std::string proc_path(int parent, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(parent) + "/" + name;
}

bool portable(std::string_view attribute) {
  return attribute != "security.capability" && attribute != "security.ima" && attribute != "security.evm" &&
         !attribute.starts_with("trusted.overlay.") && !attribute.starts_with("user.overlay.");
}

std::vector<std::string> names_at(const std::string& path) {
  const ssize_t size = llistxattr(path.c_str(), nullptr, 0);
  if (size <= 0) return {};
  std::string list(static_cast<std::size_t>(size), '\0');
  const ssize_t got = llistxattr(path.c_str(), list.data(), list.size());
  std::vector<std::string> names;
  for (std::size_t at = 0; got > 0 && at < static_cast<std::size_t>(got); at += names.back().size() + 1)
    names.emplace_back(list.c_str() + at);
  return names;
}

}  // namespace

Attributes read_attributes(int parent, const std::string& name) {
  const std::string path = proc_path(parent, name);
  Attributes found;
  for (const std::string& attribute : names_at(path)) {
    if (!portable(attribute)) continue;
    const ssize_t size = lgetxattr(path.c_str(), attribute.c_str(), nullptr, 0);
    if (size < 0) continue;
    std::string value(static_cast<std::size_t>(size), '\0');
    const ssize_t got = lgetxattr(path.c_str(), attribute.c_str(), value.data(), value.size());
    if (got >= 0) found[attribute] = value.substr(0, static_cast<std::size_t>(got));
  }
  return found;
}

// fsetxattr(2) does not accept an O_PATH descriptor. Only those use the name in /proc: inside a container's root, a
// process has that container's /proc.
Status write_attributes(int fd, std::string_view path, const Attributes& wanted) {
  const std::string place = "/proc/self/fd/" + std::to_string(fd);
  for (const auto& [attribute, value] : wanted) {
    if (fsetxattr(fd, attribute.c_str(), value.data(), value.size(), 0) == 0) continue;
    if (errno == EBADF && setxattr(place.c_str(), attribute.c_str(), value.data(), value.size(), 0) == 0) continue;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO)
      return system_error("set attribute " + attribute + " of", path, errno);
  }
  const std::string acl(kAcl);
  if (!wanted.contains(acl) && fremovexattr(fd, acl.c_str()) != 0 && errno == EBADF)
    removexattr(place.c_str(), acl.c_str());
  return {};
}

}  // namespace slipway::base
