// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kMostConnections = 32;  // kubelet has one
constexpr int kBacklog = 32;

/// Listens under a temporary name, and then renames: the socket's name always leads to a listening socket, or to no
/// file.
Result<Fd> listen_in(int folder, const std::string& name) {
  const std::string fresh = "." + name + ".new";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Binds through the folder's descriptor: sun_path holds 107 bytes, and no link may lead out of the root.
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + fresh;
  if (path.size() >= sizeof address.sun_path) return system_error("listen on", name, ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("make", name, errno);
  (void)::unlinkat(folder, fresh.c_str(), 0);
  // Linux gives the new file the descriptor's mode at bind time.
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0)
    return system_error("listen on", name, errno);
  if (::renameat(folder, fresh.c_str(), folder, name.c_str()) == 0) return fd;
  const int why = errno;
  (void)::unlinkat(folder, fresh.c_str(), 0);
  return system_error("listen on", name, why);
}

}  // namespace

GrpcThread::GrpcThread() : poll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.get();
  (void)::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

GrpcThread::~GrpcThread() {
  thread_.request_stop();
  (void)::eventfd_write(wake_.get(), 1);
}

void GrpcThread::work(const std::stop_token& stop) {
  std::array<epoll_event, 16> events;
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(poll_.get(), events.data(), events.size(), -1);
    if (count < 0 && errno != EINTR) return;  // there is no descriptor: start() has reported it
    const std::scoped_lock lock(mutex_);
    for (int i = 0; i < count; ++i) {
      // An event for a descriptor that was closed and reused meanwhile does no harm: all calls here are non-blocking.
      const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
      if (const auto found = servers_.find(fd); found != servers_.end()) found->second->ready(fd);
    }
  }
}

void GrpcThread::watch(int fd, bool writable, GrpcServer& server) {
  epoll_event event{};
  event.events = EPOLLIN | (writable ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.fd = fd;
  const bool is_known = !servers_.emplace(fd, &server).second;
  (void)::epoll_ctl(poll_.get(), is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

void GrpcThread::forget(int fd) {
  servers_.erase(fd);
  (void)::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(GrpcThread& thread, const RootDir& root, Options options) {
  if (!thread.poll_ || !thread.wake_) return system_error("listen on", options.socket, EMFILE);
  std::unique_ptr<GrpcServer> server(new GrpcServer(thread, std::move(options)));
  const std::string& path = server->options_.socket;
  SLIPWAY_TRY(place, root.parent_of(path));
  server->folder_ = std::move(place.first);
  server->name_ = place.second;
  auto listening = listen_in(server->folder_.get(), server->name_);
  if (!listening) {
    Error error = std::move(listening).error();
    error.where = path;
    return error;
  }
  server->listening_ = std::move(*listening);
  if (const auto file = file_id_at(server->folder_.get(), server->name_)) server->file_ = *file;
  const std::scoped_lock lock(thread.mutex_);
  thread.watch(server->listening_.get(), false, *server);
  return server;
}

GrpcServer::~GrpcServer() {
  if (!listening_) return;
  if (file_id_at(folder_.get(), name_) == file_) (void)::unlinkat(folder_.get(), name_.c_str(), 0);
  const std::scoped_lock lock(thread_.mutex_);
  thread_.forget(listening_.get());
  for (auto& [fd, connection] : connections_) {
    thread_.forget(fd);
    connection->end_streams();
    (void)connection->send();
  }
}

void GrpcServer::show(GrpcMessage newest) {
  const std::scoped_lock lock(thread_.mutex_);
  options_.newest = std::move(newest);
  for (auto& [fd, connection] : connections_) connection->show(options_.newest);
  send_all();
}

void GrpcServer::end_streams() {
  const std::scoped_lock lock(thread_.mutex_);
  for (auto& [fd, connection] : connections_) connection->end_streams();
  send_all();
}

unsigned GrpcServer::streams() const {
  const std::scoped_lock lock(thread_.mutex_);
  return count_streams();
}

unsigned GrpcServer::streams_begun() const {
  const std::scoped_lock lock(thread_.mutex_);
  return streams_begun_;
}

unsigned GrpcServer::connections() const {
  const std::scoped_lock lock(thread_.mutex_);
  return static_cast<unsigned>(
      std::ranges::count_if(connections_, [](const auto& each) { return each.second->streams_begun() > 0; }));
}

bool GrpcServer::is_idle() const {
  const std::scoped_lock lock(thread_.mutex_);
  for (const auto& [fd, connection] : connections_)
    if (connection->is_sending()) return false;
  return true;
}

unsigned GrpcServer::count_streams() const {
  unsigned count = 0;
  for (const auto& [fd, connection] : connections_) count += connection->streams();
  return count;
}

void GrpcServer::ready(int fd) {
  if (fd == listening_.get()) return accept_all();
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  GrpcConnection& connection = *found->second;
  const unsigned open = connection.streams();
  const unsigned begun = connection.streams_begun();
  const bool goes_on = connection.receive() && (!connection.is_blocked() || connection.send());
  streams_begun_ += connection.streams_begun() - begun;
  const bool changed = connection.streams() != open || connection.streams_begun() != begun;
  settle(fd, goes_on);
  if (changed && options_.on_change) options_.on_change();
}

void GrpcServer::accept_all() {
  while (true) {
    Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (connections_.size() >= kMostConnections) continue;  // closed at once
    const int fd = socket.get();
    connections_.emplace(fd, std::make_unique<GrpcConnection>(std::move(socket), options_.methods, options_.newest));
    thread_.watch(fd, false, *this);
    settle(fd, connections_.at(fd)->send());
  }
}

void GrpcServer::send_all() {
  std::map<int, bool> over;
  for (auto& [fd, connection] : connections_) over[fd] = connection->send();
  for (const auto& [fd, goes_on] : over) settle(fd, goes_on);
}

/// Polls for writing if data is left, or drops a connection that is over.
void GrpcServer::settle(int fd, bool goes_on) {
  if (goes_on) return thread_.watch(fd, connections_.at(fd)->is_blocked(), *this);
  thread_.forget(fd);
  connections_.erase(fd);
  if (options_.on_change) options_.on_change();
}

}  // namespace slipway::deviceplugin
