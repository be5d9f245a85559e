// SPDX-License-Identifier: Apache-2.0
#include "sandbox/restrict_mount.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>

namespace slipway::sandbox {
namespace {

constexpr int kSetAttributes = 442;      // mount_setattr(2); newer than some C libraries
constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE

/// One line of /proc/self/mountinfo.
struct Mounted {
  std::string place;
  unsigned long flags = 0;
};

struct Flag {
  std::string_view name;
  unsigned long bit;
};
constexpr std::array kMountFlags{Flag{"ro", MS_RDONLY},         Flag{"nosuid", MS_NOSUID},
                                 Flag{"nodev", MS_NODEV},       Flag{"noexec", MS_NOEXEC},
                                 Flag{"noatime", MS_NOATIME},   Flag{"nodiratime", MS_NODIRATIME},
                                 Flag{"relatime", MS_RELATIME}, Flag{"nosymfollow", 0x100}};

/// Parses "ro,nosuid,relatime".
unsigned long flags_of(std::string_view options) {
  unsigned long flags = 0;
  for (const std::string_view word : split<std::string_view>(options, ','))
    for (const Flag& flag : kMountFlags)
      if (word == flag.name) flags |= flag.bit;
  return flags;
}

/// Returns the kernel's name of a place that may be given by a descriptor ("/proc/self/fd/7"). Empty when it has none.
std::string real_name(const std::string& place) {
  if (!place.starts_with("/proc/self/fd/")) return place;
  std::array<char, PATH_MAX> name{};
  const ssize_t length = ::readlink(place.c_str(), name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Returns the mounts at the place and below. Two mounts at one place are listed twice.
std::vector<Mounted> mounts_below(const std::string& place) {
  std::vector<Mounted> found;
  std::ifstream file("/proc/self/mountinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const MountLine& mount : parse_mounts(text)) {
    const std::string name = without_escapes(mount.place);
    if (name == place || name.starts_with(place + "/")) found.push_back({name, flags_of(mount.options)});
  }
  return found;
}

}  // namespace

int restrict_mount(const std::string& place, std::uint64_t attributes) {
  mount_attr wanted{};
  wanted.attr_set = attributes | MOUNT_ATTR_NOSUID;
  if (::syscall(kSetAttributes, AT_FDCWD, place.c_str(), kRecursive, &wanted, sizeof(wanted)) == 0) return 0;
  const unsigned long added = MS_NOSUID | ((attributes & MOUNT_ATTR_NODEV) != 0 ? MS_NODEV : 0) |
                              ((attributes & MOUNT_ATTR_RDONLY) != 0 ? MS_RDONLY : 0);
  const std::vector<Mounted> mounts = mounts_below(real_name(place));
  if (mounts.empty()) return EPERM;  // the mounts are unknown
  for (const Mounted& each : mounts)
    if (::mount("", each.place.c_str(), nullptr, MS_REMOUNT | MS_BIND | each.flags | added, nullptr) != 0) return errno;
  return 0;
}

}  // namespace slipway::sandbox
