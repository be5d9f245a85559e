// SPDX-License-Identifier: Apache-2.0
#include "core/service/control_socket.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kClients = 64;

Error runs_already(const std::string& name) {
  return Error{ErrorCode::busy,
               "the service of " + name + " runs already",
               std::string(kControlFolder) + "/" + name + ".lock",
               "look at `systemctl status slipway-" + name + "`, or at who holds the lock with `fuser`",
               {}};
}

/// /run/slipway and /run/slipway/service, with those above them. Whoever makes one at the same time is welcome.
Status make_folders(const RootDir& root) {
  const std::string path = kControlFolder;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (!root.open_at(folder, O_PATH | O_DIRECTORY)) {
      SLIPWAY_TRY(place, root.parent_of(folder));
      if (::mkdirat(place.first.get(), place.second.c_str(), 0755) != 0 && errno != EEXIST)
        return system_error("make the folder", (root.folder() == "/" ? "" : root.folder()) + folder, errno);
    }
    if (end == std::string::npos) return {};
  }
}

/// Held by the process, so that it is free again whatever that dies of.
Result<Fd> take_name(int folder, const std::string& name) {
  const std::string file = name + ".lock";
  Fd lock(::openat(folder, file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return system_error("open", std::string(kControlFolder) + "/" + file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return runs_already(name);
  return system_error("lock", std::string(kControlFolder) + "/" + file, errno);
}

Result<Fd> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return system_error("listen on", path, ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("make", path, errno);
  ::unlink(path.c_str());
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0 || ::listen(fd.get(), kClients) != 0) return system_error("listen on", path, errno);
  return fd;
}

void watch(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  (void)::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Result<ControlSocket> ControlSocket::open(const RootDir& root, const std::string& name) {
  ControlSocket control;
  SLIPWAY_CHECK(make_folders(root));
  SLIPWAY_TRY(folder, root.open_at(kControlFolder, O_RDONLY | O_DIRECTORY));
  control.folder_ = std::move(folder);
  SLIPWAY_TRY(lock, take_name(control.folder_.get(), name));
  control.lock_ = std::move(lock);
  // Through the descriptor: a socket's path may have 108 bytes, and no link may lead out of the root.
  control.path_ = "/proc/self/fd/" + std::to_string(control.folder_.get()) + "/" + name + ".sock";
  SLIPWAY_TRY(listening, listen_at(control.path_));
  control.listening_ = std::move(listening);
  control.poll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!control.poll_) return system_error("make", "an epoll descriptor", errno);
  watch(control.poll_.get(), control.listening_.get());
  return control;
}

ControlSocket::~ControlSocket() {
  if (listening_) ::unlink(path_.c_str());
}

void ControlSocket::handle() {
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(poll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
    if (fd == listening_.get())
      accept_all();
    else
      read_from(fd);
  }
}

void ControlSocket::accept_all() {
  for (;;) {
    Fd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    if (clients_.size() >= kClients) continue;  // closed at once
    const int number = client.get();
    watch(poll_.get(), number);
    clients_.emplace(number, Client{std::move(client), {}});
  }
}

void ControlSocket::read_from(int client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  std::array<char, kMaxLine> part;
  const ssize_t got = ::recv(client, part.data(), part.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(client);
  std::string& unread = found->second.unread;
  unread.append(part.data(), static_cast<std::size_t>(got));
  for (std::size_t line = unread.find('\n'); line != std::string::npos; line = unread.find('\n')) {
    const Json message = parse_foreign(unread.substr(0, line));
    unread.erase(0, line + 1);
    const bool understood = message.is_object() && message.contains("op") && message["op"].is_string();
    if (!understood) return end(client);
    if (on_request) on_request(client, message["op"]);
    if (!clients_.contains(client)) return;
  }
  if (unread.size() > kMaxLine) end(client);
}

void ControlSocket::end(int client) {
  clients_.erase(client);
  if (on_gone) on_gone(client);
}

void ControlSocket::answer(int client, const Json& value) {
  if (!clients_.contains(client)) return;
  const std::string line = canonical(value) + "\n";
  // Answers are short and few: a client that does not take them is given up, by its own fault.
  if (::send(client, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) end(client);
}

}  // namespace slipway::core
