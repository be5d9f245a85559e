// SPDX-License-Identifier: Apache-2.0
#include "core/service/control_socket.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kClients = 64;

Error runs_already(const std::string& name) {
  return Error{ErrorCode::locked,
               "the service of " + name + " is already running",
               std::string(kControlFolder) + "/" + name + ".lock",
               "look at `systemctl status slipway-" + name + "`, or find the process that holds the lock with `fuser`",
               {}};
}

Result<Fd> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return system_error("listen on", path, ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("make", path, errno);
  ::unlink(path.c_str());
  // Linux gives the name the mode of the descriptor at bind time: no other user can connect before the mode is right.
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kClients) != 0)
    return system_error("listen on", path, errno);
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
  auto lock = base::LockFile::take(root, kControlFolder, name + ".lock");
  if (!lock) return lock.error().code == ErrorCode::locked ? runs_already(name) : std::move(lock).error();
  control.lock_.emplace(std::move(*lock));
  SLIPWAY_TRY(folder, root.open_at(kControlFolder, O_RDONLY | O_DIRECTORY));
  control.folder_ = std::move(folder);
  // The path goes through the descriptor: a socket's path has at most 108 bytes, and no link may lead out of the root.
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
  // Answers are short and few: a client that does not read them is disconnected.
  if (::send(client, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) end(client);
}

}  // namespace slipway::core
