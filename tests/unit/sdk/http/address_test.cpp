// SPDX-License-Identifier: Apache-2.0
// The address that a service listens on: the one that was asked for, whatever the kernel lacks. Who is a peer.
#include "slipway/http/address.hpp"

#include <cerrno>
#include <cstddef>
#include <functional>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.hpp"

namespace slipway {
namespace {

/// Runs `body` in a process in which socket(2) has `number` for IPv6, as under ipv6.disable=1; 77: no seccomp here.
int exit_without_ipv6(unsigned number, const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
                          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      ::_exit(77);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool is_every_ipv4_address(const Fd& fd) {
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  return ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &length) == 0 && bound.sin_family == AF_INET &&
         bound.sin_addr.s_addr == htonl(INADDR_ANY);
}

// "::1" became 0.0.0.0 there, so that everybody reached what was meant for this machine alone.
TEST(Listening, IsNeverOnMoreAddressesThanAskedForWhereIPv6IsMissing) {
  for (const unsigned number : {unsigned{EAFNOSUPPORT}, unsigned{EMFILE}, unsigned{EPERM}}) {
    const int status = exit_without_ipv6(number, [&] {
      for (const char* address : {"::1", "fe80::1", "2001:db8::1", "::ffff:127.0.0.1"}) {
        const auto listening = listen_on({.address = address});
        if (listening || listening.error().next.empty()) return false;
      }
      return listen_on({.address = "127.0.0.1"}).ok();
    });
    if (status == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_EQ(status, 0) << number;
  }
}

TEST(Listening, OnEveryAddressMeansEveryIPv4AddressOnlyWhereTheKernelHasNoIPv6) {
  const auto all = [] { return listen_on({.address = "::"}); };
  const int status = exit_without_ipv6(EAFNOSUPPORT, [&] {
    const auto listening = all();
    return listening && is_every_ipv4_address(*listening);
  });
  if (status == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(exit_without_ipv6(EMFILE, [&] { return !all(); }), 0) << "a passing lack is an error";
}

// The advice was to end what has the port, whatever was wrong.
TEST(Listening, SaysWhatToDoAboutAnAddressThatThisMachineLacks) {
  const auto listening = listen_on({.address = "192.0.2.1", .port = 8000});  // RFC 5737: nobody's
  ASSERT_FALSE(listening);
  EXPECT_NE(listening.error().next.find("ip address"), std::string::npos) << to_text(listening.error());
}

// Each of 127.0.0.0/8 was a peer of its own, so that a local user had 2^24 of them.
TEST(PeerOf, AllOfLoopbackIsOne) {
  EXPECT_FALSE(peer("127.0.0.1").empty());
  for (const char* other : {"127.0.0.2", "127.255.255.254", "::1", "::ffff:127.9.9.9"})
    EXPECT_EQ(peer(other), peer("127.0.0.1")) << other;
  EXPECT_NE(peer("128.0.0.1"), peer("127.0.0.1"));
}

TEST(PeerOf, AnIPv4AddressIsTheSameWhereIPv6CarriesIt) {
  EXPECT_EQ(peer("::ffff:192.0.2.7"), peer("192.0.2.7"));
  EXPECT_NE(peer("192.0.2.8"), peer("192.0.2.7"));
  EXPECT_NE(peer("::ffff:192.0.2.8"), peer("::ffff:192.0.2.7"));
}

TEST(PeerOf, AnIPv6HostHasItsWholeNetworkButALinkHasManyHosts) {
  EXPECT_EQ(peer("2001:db8:0:1::1"), peer("2001:db8:0:1:ffff::2"));
  EXPECT_NE(peer("2001:db8:0:1::1"), peer("2001:db8:0:2::1"));
  EXPECT_NE(peer("fe80::1"), peer("fe80::2")) << "two hosts";
  EXPECT_NE(peer("::"), peer("::1"));
}

}  // namespace
}  // namespace slipway
