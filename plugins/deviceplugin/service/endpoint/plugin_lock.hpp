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
/// well as sockets, but none removes the folder. Processes in other mount and pid namespaces see the same lock, and
/// nothing is left behind. Used by one thread.
class PluginLock {
 public:
  /// @param folder  on this machine
  explicit PluginLock(std::string folder) : folder_(std::move(folder)) {}
  /// @param folder  inside the root: no link leads out of it
  PluginLock(RootDir root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  /// Whether this process may serve kubelet now; takes the lock if it is free. Never waits. True while there is no
  /// folder, or it cannot be opened: then nothing can be served there either. A folder that was replaced is another
  /// one.
  bool hold();
  /// For a handover: the lock belongs to the open file, so a process that inherits or receives a duplicate of this
  /// descriptor holds the lock as well, until the last copy is closed. -1: the lock is not held.
  int fd() const { return held_ ? folder_fd_.get() : -1; }
  /// Takes over a descriptor that fd() of another process was duplicated to.
  void adopt(Fd lock);
  void release();
  /// The process that has the lock in place of this one: "name (pid 12)"; empty: it cannot be told.
  std::string holder() const;

 private:
  bool is_current() const;
  Fd open(int flags) const;

  std::optional<RootDir> root_;
  std::string folder_;
  Fd folder_fd_;
  bool held_ = false;
};

/// The process that listens at a socket; nothing: nobody listens there. 0: it runs in a pid namespace that cannot be
/// seen from here.
std::optional<pid_t> listener_at(const std::string& socket);
/// "the process 4711", "a process in another container".
std::string listener_text(pid_t pid);
/// Likewise, of a connection to it.
std::optional<pid_t> listener_of(const Fd& connected);

}  // namespace slipway::deviceplugin
