// SPDX-License-Identifier: Apache-2.0
#include "base/http/address.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slipway::base {
namespace {

Error bad_address(const std::string& address) {
  return {ErrorCode::invalid,
          "'" + address + "' is not an IP address",
          "address",
          "write 127.0.0.1 to listen on this machine only, or :: for all of its addresses",
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
    error.next = "stop the process that has that port (`ss -ltnp`), or choose another one (" + settings.key + ")";
  }
  if (number == EADDRNOTAVAIL || number == EAFNOSUPPORT)
    error.next = "write an address that this machine has (`ip address`), or 127.0.0.1 to listen on this machine only";
  if (number == EMFILE || number == ENFILE) error.next = "stop processes that have many files open, or raise the limit";
  return error;
}

std::string peer_of_four(const in_addr& address) {
  if (ntohl(address.s_addr) >> 24U == IN_LOOPBACKNET) return kLoopbackPeer;
  char text[INET_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET, &address, text, sizeof text);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
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
  // On a kernel without IPv6, "::" stands for all IPv4 addresses. Any other address stands only for itself.
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
               "descriptor " + std::to_string(socket) + " is not a stream socket that listens",
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

std::string peer_of_connection(int accepted, const sockaddr* client) {
  constexpr unsigned kUsersOfANamespace = 1U << 16U;
  sockaddr_storage listener{};
  socklen_t size = sizeof listener;
  if (::getsockname(accepted, reinterpret_cast<sockaddr*>(&listener), &size) != 0) return peer_of(client);
  const auto user = local_user_of(client, reinterpret_cast<const sockaddr*>(&listener));
  if (!user) return peer_of(client);
  if (*user < kUsersOfANamespace) return "user " + std::to_string(*user);
  return "users " + std::to_string(*user / kUsersOfANamespace) + " * 65536";
}

std::string network_of(const std::string& peer) {
  constexpr std::size_t kOfFour = 2;  // bytes
  constexpr std::size_t kOfSix = 6;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  char text[INET6_ADDRSTRLEN] = {};
  if (::inet_pton(AF_INET, peer.c_str(), bytes.data()) == 1) {
    std::fill(bytes.begin() + kOfFour, bytes.end(), 0);
    return std::string(::inet_ntop(AF_INET, bytes.data(), text, sizeof text)) + "/16";
  }
  if (!peer.ends_with("/64") || ::inet_pton(AF_INET6, peer.substr(0, peer.find('/')).c_str(), bytes.data()) != 1)
    return {};
  std::fill(bytes.begin() + kOfSix, bytes.end(), 0);
  return std::string(::inet_ntop(AF_INET6, bytes.data(), text, sizeof text)) + "/48";
}

std::vector<std::string> own_names() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return {};
  const std::string whole = name.data();
  const std::string first = whole.substr(0, whole.find('.'));
  std::vector<std::string> names{whole, first};
  struct __res_state resolver {};
  if (::res_ninit(&resolver) != 0) return names;
  for (std::size_t i = 0; i < MAXDNSRCH && resolver.dnsrch[i] != nullptr; ++i)
    if (*resolver.dnsrch[i] != '\0' && *resolver.dnsrch[i] != '.') names.push_back(first + "." + resolver.dnsrch[i]);
  ::res_nclose(&resolver);
  return names;
}

bool is_own_name(std::string_view host, const std::vector<std::string>& names) {
  std::string name = lower_case(host);
  if (name.starts_with('['))
    name = name.substr(1, name.find(']') - 1);
  else if (const std::size_t port = name.rfind(':'); port != std::string::npos)
    name.resize(port);
  std::array<unsigned char, sizeof(in6_addr)> room{};
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, name.c_str(), room.data()) == 1) return true;
  if (name.ends_with('.')) name.pop_back();
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  return std::ranges::any_of(names, [&](const std::string& each) {
    const std::string own = lower_case(each);
    return !own.empty() && (own.starts_with('.') ? name.ends_with(own) : name == own);
  });
}

}  // namespace slipway::base
