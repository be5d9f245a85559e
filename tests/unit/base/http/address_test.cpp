// SPDX-License-Identifier: Apache-2.0
// The address that a service listens on: always the requested one, whatever the kernel lacks. Also the identity of a
// peer.
#include "base/http/address.hpp"

#include <cerrno>
#include <cstddef>
#include <functional>

#include <arpa/inet.h>
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

namespace slipway::base {
namespace {

/// Runs `body` in a process in which socket(2) fails with `number` for IPv6, as under ipv6.disable=1; 77: no seccomp
/// here.
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

// Before the fix, "::1" became 0.0.0.0 there, so that the whole network reached a listener that was meant for this
// machine.
TEST(Listening, IsNeverOnMoreAddressesThanRequestedWhereIPv6IsMissing) {
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

// Before the fix, the advice for every error was to end the program that has the port.
TEST(Listening, SaysWhatToDoAboutAnAddressThatThisMachineLacks) {
  const auto listening = listen_on({.address = "192.0.2.1", .port = 8000});  // RFC 5737: not in use
  ASSERT_FALSE(listening);
  EXPECT_NE(listening.error().next.find("ip address"), std::string::npos) << to_text(listening.error());
}

// Before the fix, each address of 127.0.0.0/8 was a separate peer, so a local user had 2^24 of them.
TEST(PeerOf, AllOfLoopbackIsOnePeer) {
  EXPECT_FALSE(peer("127.0.0.1").empty());
  for (const char* other : {"127.0.0.2", "127.255.255.254", "::1", "::ffff:127.9.9.9"})
    EXPECT_EQ(peer(other), peer("127.0.0.1")) << other;
  EXPECT_NE(peer("128.0.0.1"), peer("127.0.0.1"));
}

TEST(PeerOf, AnIPv4AddressIsTheSameInsideIPv6) {
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

TEST(NetworkOf, IsTheLargestNetworkOfOneGuesser) {
  EXPECT_EQ(network_of("10.1.2.3"), "10.1.0.0/16");
  EXPECT_EQ(network_of(peer("::ffff:10.1.9.9")), "10.1.0.0/16");
  EXPECT_EQ(network_of(peer("2001:db8:1:2::3")), "2001:db8:1::/48");
  for (const char* none : {"loopback", "user 0", "fe80::1", "the link", ""}) EXPECT_EQ(network_of(none), "") << none;
}

TEST(OwnName, IsANameThatNoOtherPartyCanPointHere) {
  const std::vector<std::string> names{"node7", "Node7.Example", ".site.example", ""};
  for (const char* own : {"localhost:9400", "LOCALHOST", "a.localhost", "127.0.0.1:1", "[::1]:9400", "10.1.2.3",
                          "node7", "NODE7:9400", "node7.example.", "x.site.example", "a.b.site.example:80"})
    EXPECT_TRUE(is_own_name(own, names)) << own;
  for (const char* other : {"evil.example", "localhost.evil.example", "node7.evil.example", "site.example",
                            "xsite.example", "", ":9400", ".", "[evil]", "1.2.3"})
    EXPECT_FALSE(is_own_name(other, names)) << other;
}

TEST(OwnName, IsThatOfTheHost) {
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_TRUE(is_own_name(std::string(name) + ":9400", own_names()));
}

/// Connects to `listener` as a user of this machine, and waits for the end of the pipe `pipe_ends`, whose writing end
/// it closes.
pid_t connect_as(uid_t user, const Fd& listener, const int (&pipe_ends)[2], int domain = AF_INET) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::close(pipe_ends[1]);
  sockaddr_storage to{};
  socklen_t size = sizeof to;
  char end = 0;
  if (::setuid(user) != 0 || ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&to), &size) != 0) ::_exit(1);
  const Fd own(::socket(domain, SOCK_STREAM, 0));
  if (::connect(own.get(), reinterpret_cast<const sockaddr*>(&to), size) != 0) ::_exit(2);
  (void)!::read(pipe_ends[0], &end, 1);
  ::_exit(0);
}

std::string accepted_peer(const Fd& listener) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const Fd accepted(::accept(listener.get(), reinterpret_cast<sockaddr*>(&from), &size));
  return peer_of_connection(accepted.get(), reinterpret_cast<const sockaddr*>(&from));
}

// Before the fix, all users of a machine were one peer, so one of them could use up another's share.
TEST(PeerOf, UsersOfThisMachineAreDistinguished) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  for (const char* address : {"127.0.0.1", "::1"}) {
    const auto listener = listen_on({.address = address});
    ASSERT_TRUE(listener) << to_text(listener.error());
    const std::pair<uid_t, std::string> users[] = {
        {0, "user 0"}, {65534, "user 65534"}, {100'000, "users 1 * 65536"}, {131'071, "users 1 * 65536"}};
    for (const auto& [user, wanted] : users) {
      int pipe_ends[2];
      ASSERT_EQ(::pipe(pipe_ends), 0);
      const pid_t child = connect_as(user, *listener, pipe_ends, address[0] == ':' ? AF_INET6 : AF_INET);
      EXPECT_EQ(accepted_peer(*listener), wanted) << address;
      ::close(pipe_ends[1]);
      ::close(pipe_ends[0]);
      ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    }
  }
}

// Before the fix, a client elsewhere that connected from the port of a service here was taken for the user of that
// service: it used up the password attempts of Prometheus and ended its connections.
TEST(PeerOf, ARemoteClientIsNotTheLocalListenerOnItsPort) {
  const auto ports_of = [](const Fd& listener) {
    sockaddr_in6 bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    return bound.sin6_port;
  };
  const auto every_address = listen_on({.address = "0.0.0.0"});
  const auto also_of_six = listen_on({.address = "::"});
  ASSERT_TRUE(every_address && also_of_six);
  sockaddr_in client{.sin_family = AF_INET, .sin_port = ports_of(*every_address), .sin_addr = {}, .sin_zero = {}};
  sockaddr_in listener{.sin_family = AF_INET, .sin_port = htons(9400), .sin_addr = {}, .sin_zero = {}};
  ASSERT_EQ(::inet_pton(AF_INET, "192.0.2.7", &client.sin_addr), 1);
  ASSERT_EQ(::inet_pton(AF_INET, "192.0.2.1", &listener.sin_addr), 1);
  EXPECT_FALSE(local_user_of(reinterpret_cast<sockaddr*>(&client), reinterpret_cast<sockaddr*>(&listener)));
  sockaddr_in6 client_of_six{};
  client_of_six.sin6_family = AF_INET6;
  client_of_six.sin6_port = ports_of(*also_of_six);
  sockaddr_in6 listener_of_six = client_of_six;
  listener_of_six.sin6_port = htons(9400);
  ASSERT_EQ(::inet_pton(AF_INET6, "2001:db8::7", &client_of_six.sin6_addr), 1);
  ASSERT_EQ(::inet_pton(AF_INET6, "2001:db8::1", &listener_of_six.sin6_addr), 1);
  EXPECT_FALSE(
      local_user_of(reinterpret_cast<sockaddr*>(&client_of_six), reinterpret_cast<sockaddr*>(&listener_of_six)));
}

// The kernel reports root as the owner of a connection that its process has closed.
TEST(PeerOf, AClientThatHasClosedIsNotRoot) {
  const auto listener = listen_on({.address = "127.0.0.1"});
  ASSERT_TRUE(listener);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = connect_as(::geteuid(), *listener, pipe_ends);
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(accepted_peer(*listener), kLoopbackPeer);
}

}  // namespace
}  // namespace slipway::base
