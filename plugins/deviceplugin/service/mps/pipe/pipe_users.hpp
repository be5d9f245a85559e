// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_users.hpp - the processes that use a pipe folder, as the kernel reports
// them.
#pragma once

#include <array>
#include <optional>
#include <string>

#include <sys/types.h>

namespace slipway::deviceplugin {

struct PipeUsers {
  pid_t lock = 0;  ///< process with the folder's lock; 0: none
  /// Processes at the sockets; 0: none, or none in this pid namespace; -1: a file of that name is not a socket.
  std::array<pid_t, 2> listeners{};
};

/// Opens no file that would block, and follows no link. Looking up a name needs the folder's own lock, which a pod may
/// hold forever: call it in a process that can be abandoned.
PipeUsers users_of(const std::string& folder);

/// Returns the holder of the folder's lock if the kernel has the name cached, which takes no lock of the folder. Empty:
/// it is not cached, or unknown (before Linux 5.12).
std::optional<pid_t> lock_user_at_once(const std::string& folder);

/// The option that makes deviceplugin-empty print the users, and their format.
inline constexpr const char* kUsersOption = "--users";
std::string to_text(const PipeUsers& users);
std::optional<PipeUsers> users_from(const std::string& text);

}  // namespace slipway::deviceplugin
