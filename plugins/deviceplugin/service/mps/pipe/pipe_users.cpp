// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe/pipe_users.hpp"

#include <cerrno>
#include <cstdio>
#include <sstream>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr const char* kLock = "/control_lock";
// Root's commands use the first socket if it exists (drivers since 535), else the second, as clients do.
constexpr std::array kSockets{"/control_privileged", "/control"};
constexpr int kPlaceFlags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
constexpr std::uint64_t kOnlyCached = 0x20;  // RESOLVE_CACHED, which older headers lack

/// @param place  the file with the lock's name: it may be a pipe, on which open blocks, or a link
pid_t lock_user(const Fd& place) {
  struct stat info {};
  if (!place || ::fstat(place.get(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  const Fd file(
      ::open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!file || ::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

pid_t pipe_listener_at(const std::string& path) {
  const Fd place(::open(path.c_str(), kPlaceFlags));
  if (!place) return errno == ENOENT ? 0 : -1;
  struct stat info {};
  if (::fstat(place.get(), &info) != 0 || !S_ISSOCK(info.st_mode)) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (void)std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", place.get());
  const Fd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection) return 0;
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno == EPROTOTYPE ? -1 : 0;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  return peer.pid > 0 ? peer.pid : -1;
}

}  // namespace

PipeUsers users_of(const std::string& folder) {
  PipeUsers users;
  users.lock = lock_user(Fd(::open((folder + kLock).c_str(), kPlaceFlags)));
  for (std::size_t i = 0; i < kSockets.size(); ++i) users.listeners[i] = pipe_listener_at(folder + kSockets[i]);
  return users;
}

std::optional<pid_t> lock_user_at_once(const std::string& folder) {
  open_how how{};
  how.flags = kPlaceFlags;
  how.resolve = kOnlyCached;
  const Fd place(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, (folder + kLock).c_str(), &how, sizeof how)));
  if (!place) return std::nullopt;
  return lock_user(place);
}

std::string to_text(const PipeUsers& users) {
  std::string text = std::to_string(users.lock);
  for (const pid_t each : users.listeners) text += " " + std::to_string(each);
  return text;
}

std::optional<PipeUsers> users_from(const std::string& text) {
  PipeUsers users;
  std::istringstream in(text);
  in >> users.lock;
  for (pid_t& each : users.listeners) in >> each;
  if (!in) return std::nullopt;
  return users;
}

}  // namespace slipway::deviceplugin
