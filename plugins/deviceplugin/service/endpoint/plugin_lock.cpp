// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/endpoint/plugin_lock.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/write/lock_file.hpp"

namespace slipway::deviceplugin {

Fd PluginLock::open(int flags) const {
  if (!root_) return Fd(::open(folder_.c_str(), flags | O_DIRECTORY | O_CLOEXEC));
  auto inside = root_->open_at(folder_, flags | O_DIRECTORY);
  return inside ? std::move(*inside) : Fd();
}

bool PluginLock::is_current() const {
  const Fd now = folder_fd_ ? open(O_PATH) : Fd();
  struct stat here {};
  struct stat open {};
  return now && ::fstat(now.get(), &here) == 0 && ::fstat(folder_fd_.get(), &open) == 0 && here.st_dev == open.st_dev &&
         here.st_ino == open.st_ino;
}

bool PluginLock::hold() {
  if (!is_current()) {
    held_ = false;
    folder_fd_ = open(O_RDONLY);
    if (!folder_fd_) return true;
  }
  // Taking the lock again costs one call, and shows whether an adopted descriptor belongs to another lock.
  held_ = ::flock(folder_fd_.get(), LOCK_EX | LOCK_NB) == 0;
  return held_ || errno != EWOULDBLOCK;
}

void PluginLock::adopt(Fd lock) {
  folder_fd_ = std::move(lock);
  held_ = false;
  (void)hold();
}

void PluginLock::release() {
  folder_fd_.reset();
  held_ = false;
}

std::string PluginLock::holder() const { return folder_fd_ ? base::flock_holder(folder_fd_.get()) : std::string(); }

std::optional<pid_t> listener_at(const std::string& socket) {
  sockaddr_un address{};
  if (socket.size() >= sizeof address.sun_path) return std::nullopt;
  address.sun_family = AF_UNIX;
  std::ranges::copy(socket, address.sun_path);
  const Fd end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!end || ::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return std::nullopt;
  return listener_of(end);
}

std::optional<pid_t> listener_of(const Fd& connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connected.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.pid;
}

std::string listener_text(pid_t pid) {
  return pid == 0 ? "a process in another container" : "the process " + std::to_string(pid);
}

}  // namespace slipway::deviceplugin
