// SPDX-License-Identifier: Apache-2.0
#include "toolkit/unix_socket.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace slipway::toolkit {

Result<Fd> connect_to(const Host& host, const std::string& socket) {
  SLIPWAY_TRY(real, host.resolve(socket));
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  const std::string whole = root + real;
  const auto slash = whole.rfind('/');
  // The address goes through its folder's descriptor, since sun_path holds 107 bytes.
  const Fd folder(::open(whole.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Fd end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!folder || !end) return system_error("connect to", socket, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + whole.substr(slash);
  if (path.size() >= sizeof(address.sun_path)) return system_error("connect to", socket, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(end.get(), generic, sizeof(address)) != 0) return system_error("connect to", socket, errno);
  return end;
}

}  // namespace slipway::toolkit
