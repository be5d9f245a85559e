// SPDX-License-Identifier: Apache-2.0
// Finds the user of this machine at the other end of a connection, from the kernel (sock_diag(7)).
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/http/address.hpp"

namespace slipway::base {
namespace {

/// Names the socket with the local address `own` and the peer `other`; both are IPv4, or both are IPv6.
struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 wanted{};
};

struct End {
  int family = AF_UNSPEC;
  in_port_t port = 0;
  std::array<std::byte, sizeof(in6_addr)> address{};
  unsigned interface = 0;  ///< for a link-local address
};

/// Converts an IPv4 address inside IPv6 to plain IPv4.
End end_of(const sockaddr* address) {
  End end;
  if (address->sa_family == AF_INET) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(address);
    end.family = AF_INET;
    end.port = four->sin_port;
    std::memcpy(end.address.data(), &four->sin_addr, sizeof four->sin_addr);
  }
  if (address->sa_family == AF_INET6) {
    const auto* const six = reinterpret_cast<const sockaddr_in6*>(address);
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    constexpr std::size_t kMappedAt = sizeof(in6_addr) - sizeof(in_addr);
    end.family = mapped ? AF_INET : AF_INET6;
    end.port = six->sin6_port;
    end.interface = six->sin6_scope_id;
    if (mapped)
      std::memcpy(end.address.data(), six->sin6_addr.s6_addr + kMappedAt, sizeof(in_addr));
    else
      std::memcpy(end.address.data(), &six->sin6_addr, sizeof(in6_addr));
  }
  return end;
}

Question question_of(const End& own, const End& other) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.wanted.sdiag_family = static_cast<__u8>(own.family);
  question.wanted.sdiag_protocol = IPPROTO_TCP;
  question.wanted.idiag_states = ~__u32{0};
  inet_diag_sockid& id = question.wanted.id;
  id.idiag_sport = own.port;
  id.idiag_dport = other.port;
  std::memcpy(id.idiag_src, own.address.data(), sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, other.address.data(), sizeof id.idiag_dst);
  id.idiag_if = own.interface;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

}  // namespace

std::optional<unsigned> local_user_of(const sockaddr* client, const sockaddr* listener) {
  if (client == nullptr || listener == nullptr) return std::nullopt;
  const End own = end_of(client);
  const End other = end_of(listener);
  if (own.family == AF_UNSPEC || own.family != other.family) return std::nullopt;
  const Fd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const Question question = question_of(own, other);
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) != sizeof question) return std::nullopt;
  struct {
    nlmsghdr header;
    inet_diag_msg socket;
    std::array<std::byte, 4096> further;
  } answer{};
  const ssize_t got = ::recv(kernel.get(), &answer, sizeof answer, MSG_DONTWAIT);  // the kernel answered during send()
  constexpr std::size_t kLeast = offsetof(decltype(answer), further);
  if (got < static_cast<ssize_t>(kLeast) || answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  // When there is no such connection here, the kernel answers with a socket that listens on that port for every
  // address: the client is elsewhere and chose the port of sshd, or of Prometheus.
  if (answer.socket.id.idiag_dport != other.port) return std::nullopt;
  // A socket closed by its process has no owner, but shows root's number.
  if (answer.socket.idiag_inode == 0) return std::nullopt;
  return answer.socket.idiag_uid;
}

}  // namespace slipway::base
