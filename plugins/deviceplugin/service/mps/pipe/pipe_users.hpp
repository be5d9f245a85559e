// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_users.hpp - which processes use a pipe folder, as the kernel names them.
#pragma once

#include <array>
#include <optional>
#include <string>

#include <sys/types.h>

namespace slipway::deviceplugin {

struct PipeUsers {
  pid_t lock = 0;  ///< holds the folder's lock; 0: nobody
  /// At the sockets; 0: nobody, or nobody of this namespace of processes; -1: what has the name is no such socket.
  std::array<pid_t, 2> listeners{};
};

/// Opens nothing there that it would wait for, and follows no link; but to find a name it needs the folder's own lock,
/// which a pod may hold without end: for a process that nobody waits for without end.
PipeUsers users_of(const std::string& folder);

/// Who holds the folder's lock, when the kernel has the name at hand, which takes no lock of the folder's. none: it has
/// not, or cannot say (before Linux 5.12).
std::optional<pid_t> lock_user_at_once(const std::string& folder);

/// What has deviceplugin-empty print them, and how.
inline constexpr const char* kUsersOption = "--users";
std::string to_text(const PipeUsers& users);
std::optional<PipeUsers> users_from(const std::string& text);

}  // namespace slipway::deviceplugin
