// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint/plugin_lock.hpp - one slipway device plugin for each kubelet: the one that
// holds a lock on kubelet's folder of device plugins.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// flock(2) on the folder itself. kubelet empties the folder when it starts, and some versions remove regular files as
/// well as sockets, but none removes the folder. Processes in other mount and pid namespaces see the same lock, and no
/// file stays behind. Used by one thread.
class PluginLock {
 public:
  /// @param folder  a path on this machine
  explicit PluginLock(std::string folder) : folder_(std::move(folder)) {}
  /// @param folder  inside the root: a link cannot lead out of it
  PluginLock(RootDir root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  /// True when this process may serve kubelet now; takes the lock if it is free, and never waits. Also true while the
  /// folder does not exist or cannot be opened, since nothing can be served there. A replaced folder has another lock.
  bool hold();
  /// Returns the descriptor for a handover: the lock belongs to the open file, so a process that inherits or receives a
  /// duplicate of this descriptor holds the lock as well, until the last copy is closed. -1: the lock is not held.
  int fd() const { return held_ ? folder_fd_.get() : -1; }
  /// Takes over a duplicate of another process' fd().
  void adopt(Fd lock);
  void release();
  /// Names the process that has the lock: "name (pid 12)"; empty: unknown.
  std::string holder() const;

 private:
  bool is_current() const;
  Fd open(int flags) const;

  std::optional<RootDir> root_;
  std::string folder_;
  Fd folder_fd_;
  bool held_ = false;
};

/// Returns the process that listens at a socket; empty: no process listens. 0: it runs in a pid namespace that is not
/// visible from here.
std::optional<pid_t> listener_at(const std::string& socket);
/// Returns "the process 4711" or "a process in another container".
std::string listener_text(pid_t pid);
/// Returns the same for a connection to the socket.
std::optional<pid_t> listener_of(const Fd& connected);

}  // namespace slipway::deviceplugin
