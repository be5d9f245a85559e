// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "base/confine/powers.hpp"

namespace slipway::base {
namespace {

// Newer than some C libraries.
constexpr int kCreateRuleset = 444;
constexpr int kAddRule = 445;
constexpr int kRestrictSelf = 446;
constexpr std::uint64_t kTruncate = 1U << 14U;        // LANDLOCK_ACCESS_FS_TRUNCATE, since version 3
constexpr std::uint64_t kAbstractSockets = 1U << 0U;  // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, since version 6
constexpr std::uint64_t kSignals = 1U << 1U;          // LANDLOCK_SCOPE_SIGNAL, since version 6

/// landlock_ruleset_attr of version 6. Older kernels accept it as long as members unknown to them are 0.
struct Ruleset {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

// Version 1 forbids every rename and link from one folder to another.
constexpr long kFirstUsefulVersion = 2;
constexpr long kVersionWithTruncate = 3;
constexpr long kVersionWithScopes = 6;

constexpr std::uint64_t kFileRights = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr std::uint64_t kFolderRights = kFileRights | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                        LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                        LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                        LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                        LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

Status allow(int rules, const std::string& place, std::uint64_t truncate) {
  const Fd opened(::open(place.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0) return {};
  landlock_path_beneath_attr rule{};
  rule.allowed_access = (S_ISDIR(info.st_mode) ? kFolderRights : kFileRights) | truncate;
  rule.parent_fd = opened.get();
  if (::syscall(kAddRule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    return system_error("allow to write below", place, errno);
  return {};
}

}  // namespace

Result<bool> limit_writes_to(const std::vector<std::string>& places) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < kFirstUsefulVersion) return false;
  const std::uint64_t truncate = version >= kVersionWithTruncate ? kTruncate : 0;
  const std::uint64_t scoped = version >= kVersionWithScopes ? kAbstractSockets | kSignals : 0;
  const Ruleset wanted{kFolderRights | truncate, 0, scoped};
  const Fd rules(static_cast<int>(::syscall(kCreateRuleset, &wanted, sizeof(wanted), 0)));
  if (!rules) return system_error("make", "rules of Landlock", errno);
  for (const std::string& place : places) SLIPWAY_CHECK(allow(rules.get(), place, truncate));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(kRestrictSelf, rules.get(), 0) != 0)
    return system_error("limit this process by", "Landlock", errno);
  return true;
}

}  // namespace slipway::base
