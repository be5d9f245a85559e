// SPDX-License-Identifier: Apache-2.0
#include "slipway/http/address.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slipway {
namespace {

Error bad_address(const std::string& address) {
  return {ErrorCode::invalid,
          "'" + address + "' is no IP address",
          "address",
          "write 127.0.0.1 for this machine alone, or :: for every address of it",
          {}};
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  int family() const { return storage.ss_family; }
};

Address address_of(const sockaddr_in& four) {
  Address address{.length = sizeof four};
  std::memcpy(&address.storage, &four, sizeof four);
  return address;
}

Address address_of(const sockaddr_in6& six) {
  Address address{.length = sizeof six};
  std::memcpy(&address.storage, &six, sizeof six);
  return address;
}

Result<Address> parse(const HttpSettings& settings) {
  sockaddr_in four{};
  sockaddr_in6 six{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  four.sin_port = six.sin6_port = htons(settings.port);
  if (::inet_pton(AF_INET, settings.address.c_str(), &four.sin_addr) == 1) return address_of(four);
  if (::inet_pton(AF_INET6, settings.address.c_str(), &six.sin6_addr) == 1) return address_of(six);
  return bad_address(settings.address);
}

Address all_of_four(std::uint16_t port) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  return address_of(four);
}

Error cannot_listen(const HttpSettings& settings, int number) {
  const bool six = settings.address.find(':') != std::string::npos;
  Error error = system_error(
      "listen on", (six ? "[" + settings.address + "]" : settings.address) + ":" + std::to_string(settings.port),
      number);
  error.next = "choose another port (" + settings.key + ")";
  if (number == EADDRINUSE) {
    error.code = ErrorCode::busy;
    error.next = "end what has that port (`ss -ltnp`), or choose another one (" + settings.key + ")";
  }
  if (number == EADDRNOTAVAIL || number == EAFNOSUPPORT)
    error.next = "write an address that this machine has (`ip address`), or 127.0.0.1 for this machine alone";
  if (number == EMFILE || number == ENFILE) error.next = "end what has many files open, or allow more of them";
  return error;
}

std::string peer_of_four(const in_addr& address) {
  if (ntohl(address.s_addr) >> 24U == IN_LOOPBACKNET) return kLoopbackPeer;
  char text[INET_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET, &address, text, sizeof text);
}

std::string peer_of_six(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return kLoopbackPeer;
  in_addr four{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    std::copy_n(address.s6_addr + 12, 4, reinterpret_cast<unsigned char*>(&four));
    return peer_of_four(four);
  }
  in6_addr of_peer = address;
  const bool of_link = IN6_IS_ADDR_LINKLOCAL(&address);
  if (!of_link) std::fill_n(of_peer.s6_addr + 8, 8, 0);
  char text[INET6_ADDRSTRLEN] = {};
  return std::string(::inet_ntop(AF_INET6, &of_peer, text, sizeof text)) + (of_link ? "" : "/64");
}

}  // namespace

Result<Fd> listen_on(const HttpSettings& settings) {
  SLIPWAY_TRY(where, parse(settings));
  const bool all = settings.address == "::";
  Fd fd(::socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Every address of a kernel without IPv6 is those of IPv4. Any other address stands for itself alone.
  if (!fd && errno == EAFNOSUPPORT && all) {
    where = all_of_four(settings.port);
    fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  if (!fd) return cannot_listen(settings, errno);
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (all && where.family() == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where.storage), where.length) == 0 &&
      ::listen(fd.get(), SOMAXCONN) == 0)
    return fd;
  return cannot_listen(settings, errno);
}

Result<Fd> listening_copy(int socket) {
  int listens = 0;
  int type = 0;
  socklen_t length = sizeof listens;
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 &&
                     ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
  Fd copy(known && listens != 0 && type == SOCK_STREAM ? ::fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1);
  if (copy) return copy;
  return Error{ErrorCode::invalid,
               "descriptor " + std::to_string(socket) + " is no stream socket that listens",
               "socket",
               "give the socket unit ListenStream= and Accept=no",
               {}};
}

std::string peer_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) return peer_of_four(reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  if (address->sa_family == AF_INET6) return peer_of_six(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return {};
}

bool is_same_address(const sockaddr* one, const sockaddr* other) {
  if (one == nullptr || other == nullptr || one->sa_family != other->sa_family) return false;
  if (one->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(one)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(other)->sin_addr.s_addr;
  return one->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&reinterpret_cast<const sockaddr_in6*>(one)->sin6_addr,
                                                          &reinterpret_cast<const sockaddr_in6*>(other)->sin6_addr);
}

bool is_own_name(std::string_view host) {
  std::string name(host);
  if (name.starts_with('['))
    name = name.substr(1, name.find(']') - 1);
  else if (const std::size_t port = name.rfind(':'); port != std::string::npos)
    name.resize(port);
  std::array<unsigned char, sizeof(in6_addr)> room{};
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, name.c_str(), room.data()) == 1) return true;
  std::array<char, 256> own{};
  const bool has_own = gethostname(own.data(), own.size() - 1) == 0;
  return name == "localhost" || name.ends_with(".localhost") || (has_own && name == own.data());
}

}  // namespace slipway
