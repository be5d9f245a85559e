// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/process.hpp - which process is the MPS control daemon of a resource.
//
// Containers write in the daemon's folder and run that program as well, so a name or an answer proves nothing: what
// counts is the process that the kernel names, its program, its user and its namespace of processes.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

#include <slipway/root_dir.hpp>

#include "deviceplugin/service/mps/pipe/pipe_users.hpp"
#include "deviceplugin/service/mps/program.hpp"

namespace slipway::deviceplugin {

/// A process that was known for the daemon; never another one that has its number later.
class MpsProcess {
 public:
  MpsProcess() = default;
  static MpsProcess of(pid_t pid);

  pid_t pid() const { return pid_; }  ///< 0: none
  explicit operator bool() const { return pid_ > 0; }
  bool alive() const;
  bool ends(std::chrono::milliseconds limit) const;
  /// With its session, which has its servers.
  void kill() const;

 private:
  pid_t pid_ = 0;
  unsigned long long started_ = 0;  ///< since the boot, as the kernel counts
  Fd handle_;                       ///< none before Linux 5.3
};

enum class MpsListener { nobody, daemon, other };
/// Who listens at the sockets of the pipe folder, where clients and commands connect. other: at one of them at least
/// it is not that process, or what has the name is no such socket.
MpsListener listener(const PipeUsers& users, const MpsProcess& daemon);

/// The one that holds the lock, else the one that listens at a socket.
MpsProcess find_daemon(const MpsProgram& program, const PipeUsers& users);

/// All that were started for that pipe folder, whatever is left in it: by their environment.
std::vector<MpsProcess> daemons_of(const MpsProgram& program, const std::string& resource);

}  // namespace slipway::deviceplugin
