// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <fstream>

#include <sys/stat.h>
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

}  // namespace slipway
