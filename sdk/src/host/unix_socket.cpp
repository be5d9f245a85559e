// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <slipway/unix_socket.hpp>

namespace slipway {

Result<Fd> connect_to(const Host& host, const std::string& socket) {
  if (host.borrows_root())
    return Error{ErrorCode::not_found,
                 "the process that listens at this socket runs on this machine, which is not the requested host",
                 socket,
                 "with --sim, name a root of the simulated machine's own (--root DIR)",
                 {}};
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  return connect_to(root, socket);
}

Result<Fd> connect_to(const RootDir& root, const std::string& socket) {
  // The address goes through the socket's descriptor: sun_path holds 107 bytes, and no link may lead out of the root,
  // not even one that replaces a folder meanwhile.
  SLIPWAY_TRY(place, root.open_at(socket, O_PATH));
  Fd end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!end) return system_error("connect to", socket, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(place.get());
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(end.get(), generic, sizeof(address)) == 0) return end;
  const int why = errno == EAGAIN ? EBUSY : errno;
  Error error = system_error("connect to", socket, why);
  if (why == ECONNREFUSED) error.code = ErrorCode::unreachable;
  return error;
}

bool service_runs(const Host& host, const std::string& component) {
  const auto end = connect_to(host, std::string(kControlFolder) + "/" + component + ".sock");
  return end || end.error().code == ErrorCode::denied || end.error().code == ErrorCode::busy;
}

}  // namespace slipway
