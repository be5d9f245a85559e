// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/process.hpp - finds the process that is the MPS control daemon of a resource.
//
// Containers write to the daemon's folder and can run that program too, so a name or an answer proves nothing. The
// check uses the process that the kernel reports, its program, its user and its pid namespace.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

#include <slipway/root_dir.hpp>

#include "deviceplugin/service/mps/pipe/pipe_users.hpp"
#include "deviceplugin/service/mps/program.hpp"

namespace slipway::deviceplugin {

/// A process that was identified as the daemon; never another process that reuses its number.
class MpsProcess {
 public:
  MpsProcess() = default;
  static MpsProcess of(pid_t pid);

  pid_t pid() const { return pid_; }  ///< 0: none
  explicit operator bool() const { return pid_ > 0; }
  bool alive() const;
  bool ends(std::chrono::milliseconds limit) const;
  /// Kills the process and its session, which contains its servers.
  void kill() const;

 private:
  pid_t pid_ = 0;
  unsigned long long started_ = 0;  ///< start time since the boot, in the kernel's ticks
  Fd handle_;                       ///< empty before Linux 5.3
};

enum class MpsListener { nobody, daemon, other };
/// Says which process listens at the sockets of the pipe folder, where clients and commands connect. other: at least
/// one socket belongs to another process, or a file of its name is not a socket.
MpsListener listener(const PipeUsers& users, const MpsProcess& daemon);

/// Returns the process that holds the lock, else the one that listens at a socket.
MpsProcess find_daemon(const MpsProgram& program, const PipeUsers& users);

/// Finds all daemons that were started for that pipe folder by their environment, whatever is left in the folder.
std::vector<MpsProcess> daemons_of(const MpsProgram& program, const std::string& resource);

}  // namespace slipway::deviceplugin
