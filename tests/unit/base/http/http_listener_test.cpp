// SPDX-License-Identifier: Apache-2.0
// The one HTTP listener: the clients that it answers, whatever others do; TLS and users; mistakes in a web-config file.
#include "base/http/http_listener.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "base/http/basic_auth.hpp"
#include "base/http/web_config.hpp"

namespace slipway::base {
namespace {

using slipway::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

// "secret", with a cost of 4.
constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

HttpText text(const char* letters) { return std::make_shared<const std::string>(letters); }

std::unique_ptr<HttpListener> listener(const HttpSettings& settings = {}) {
  auto started = HttpListener::start(settings, [] { return text("a 1\n"); });
  EXPECT_TRUE(started) << to_text(started.error());
  return started ? std::move(*started) : nullptr;
}

Fd connected(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

/// Reads until the other end closes, for 20 s at most.
std::string rest_of(const Fd& fd) {
  std::string answer;
  char part[4096];
  pollfd wanted{fd.get(), POLLIN, 0};
  while (::poll(&wanted, 1, 20'000) == 1) {
    const ssize_t got = ::recv(fd.get(), part, sizeof part, 0);
    if (got <= 0) return answer;
    answer.append(part, static_cast<std::size_t>(got));
  }
  return answer + "(still open)";
}

std::string exchange(std::uint16_t port, const std::string& request) {
  const Fd fd = connected(port);
  (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  return rest_of(fd);
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  char part[4096];
  for (std::size_t got = 0; pipe != nullptr && (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, got);
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

constexpr const char* kGet = "GET /metrics HTTP/1.0\r\n\r\n";

TEST(HttpListener, AnswersHealthOfAServiceThatHasOne) {
  EXPECT_THAT(exchange(listener()->port(), "GET /health HTTP/1.0\r\n\r\n"), HasSubstr("404"));
  bool well = true;
  auto started = HttpListener::start(
      {}, [] { return text("a 1\n"); },
      [&well] {
        return ServiceHealth{well, well ? "ok\n" : "the driver is away\n"};
      });
  ASSERT_TRUE(started) << to_text(started.error());
  const std::string good = exchange((*started)->port(), "GET /health HTTP/1.0\r\n\r\n");
  EXPECT_THAT(good, HasSubstr("200 OK"));
  EXPECT_TRUE(good.ends_with("\r\n\r\nok\n")) << good;
  well = false;
  const std::string bad = exchange((*started)->port(), "GET /health HTTP/1.0\r\n\r\n");
  EXPECT_THAT(bad, HasSubstr("503"));
  EXPECT_TRUE(bad.ends_with("\r\n\r\nthe driver is away\n")) << bad;
  EXPECT_THAT(exchange((*started)->port(), "POST /health HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), HasSubstr("405"));
}

// DNS rebinding: a site lets its own name point to this machine, and its script reads the answers. Before the fix, only
// pages were refused, and only to clients of the loopback network.
TEST(HttpListener, AnswersUnderNamesOfItsOwnOnly) {
  const auto pages = [](std::string_view path) -> std::optional<HttpPage> {
    if (path != "/") return std::nullopt;
    return HttpPage{"text/plain", "", std::make_shared<const std::string>("secret\n")};
  };
  auto started = HttpListener::start(
      {.names = {"node7.example"}}, [] { return text("secret 1\n"); },
      [] {
        return ServiceHealth{true, "secret\n"};
      },
      {}, pages);
  ASSERT_TRUE(started) << to_text(started.error());
  const auto answer = [&](const std::string& path, const std::string& host) {
    return exchange((*started)->port(), "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  };
  for (const char* path : {"/", "/metrics", "/health"}) {
    for (const char* own : {"localhost:9400", "127.0.0.1:9400", "[::1]:9400", "10.1.2.3", "node7.example:9400"})
      EXPECT_THAT(answer(path, own), HasSubstr("secret")) << path << own;
    for (const char* other : {"evil.example", "evil.example:9400", "localhost.evil.example", ""}) {
      EXPECT_THAT(answer(path, other), Not(HasSubstr("secret"))) << path << other;
      EXPECT_THAT(answer(path, other), HasSubstr(" 421 ")) << path << other;
    }
  }
  EXPECT_THAT(answer("/metrics", "evil.example"), HasSubstr("`host_names`"));
}

/// Asks the listener from any address.
/// @return the listener's answer; empty when a network of this process alone is not possible
std::string answer_under(const std::string& address, const std::string& host) {
  if (::unshare(CLONE_NEWNET) != 0) return {};
  if (std::system(("ip link set lo up && ip address add " + address + "/32 dev lo").c_str()) != 0) return {};
  const auto started = HttpListener::start({.address = "::"}, [] { return text("secret 1\n"); });
  if (!started) return to_text(started.error());
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons((*started)->port());
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return "not connected";
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
  (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  return rest_of(fd);
}

TEST(HttpListener, RefusesForeignHostNamesAtEachAddress) {
  constexpr int kNoNetwork = 77;
  for (const auto& [host, wanted] : {std::pair("evil.example", "421"), std::pair("192.0.2.2:9400", "secret")}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string answer = answer_under("192.0.2.2", host);
      ::_exit(answer.empty() ? kNoNetwork : answer.find(wanted) == std::string::npos ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == kNoNetwork) GTEST_SKIP() << "needs a network namespace of its own";
    EXPECT_EQ(status, 0) << host;
  }
}

/// Repeatedly connects as another user, without a request, until `fewest` connections were ended.
/// @return the process, which holds the other connections until it is killed; it writes a letter to `ready` then
pid_t flood_as(uid_t user, std::uint16_t port, int fewest, int ready) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::setuid(user) != 0) ::_exit(1);
  std::vector<Fd> all;
  for (int ended = 0; ended < fewest;) {
    all.push_back(connected(port));
    pollfd wanted{all[static_cast<std::size_t>(ended)].get(), POLLIN, 0};
    constexpr std::size_t kLeast = 40;
    if (all.size() >= kLeast && ::poll(&wanted, 1, 20'000) == 1) ++ended;
  }
  (void)!::write(ready, "x", 1);
  ::pause();
  ::_exit(0);
}

// Before the fix, all of loopback was one peer, whose oldest connection was closed: a flood by any user ended the
// scrapes of Prometheus.
TEST(HttpListener, KeepsConnectionsDuringAnotherUsersFlood) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  const auto server = listener();
  const Fd scraper = connected(server->port());
  (void)!::send(scraper.get(), "GET /met", 8, MSG_NOSIGNAL);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t flood = flood_as(65534, server->port(), 5, ready[1]);
  ::close(ready[1]);
  char letter = 0;
  EXPECT_EQ(::read(ready[0], &letter, 1), 1) << "the flood itself is kept within bounds";
  ::close(ready[0]);
  (void)!::send(scraper.get(), "rics HTTP/1.0\r\n\r\n", 17, MSG_NOSIGNAL);
  EXPECT_THAT(rest_of(scraper), HasSubstr("a 1\n"));
  EXPECT_THAT(exchange(server->port(), kGet), HasSubstr("a 1\n"));
  ::kill(flood, SIGKILL);
  ASSERT_EQ(::waitpid(flood, nullptr, 0), flood);
}

TEST(HttpListener, AnswersMetricsAndNothingElse) {
  const auto server = listener();
  const std::string good = exchange(server->port(), kGet);
  EXPECT_THAT(good, HasSubstr("200 OK"));
  EXPECT_THAT(good, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_TRUE(good.ends_with("\r\n\r\na 1\n")) << good;
  EXPECT_THAT(exchange(server->port(), "GET /other HTTP/1.0\r\n\r\n"), HasSubstr("404"));
  EXPECT_THAT(exchange(server->port(), "POST /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), HasSubstr("405"));
  const auto second = HttpListener::start({.port = server->port(), .key = "acme.port"}, [] { return text(""); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_THAT(second.error().next, HasSubstr("acme.port"));
}

TEST(HttpListener, IsOnLoopbackUnlessAllAddressesAreRequested) {
  const auto own = listener();
  char here[16];
  std::snprintf(here, sizeof here, ":%04X ", own->port());
  const std::string sockets = output_of("grep -h '" + std::string(here) + "' /proc/net/tcp /proc/net/tcp6");
  EXPECT_THAT(sockets, HasSubstr(std::string("0100007F") + here));  // proc(5): 127.0.0.1
  EXPECT_THAT(sockets, Not(HasSubstr(std::string("00000000") + here)));
  const auto all = listener({.address = "::"});
  EXPECT_THAT(exchange(all->port(), kGet), HasSubstr("a 1"));
  for (const char* none : {"", "localhost", "1.2.3"})
    EXPECT_EQ(HttpListener::start({.address = none}, [] { return text(""); }).error().code, ErrorCode::invalid);
}

TEST(HttpListener, ClosesInvalidAndOversizedRequests) {
  const auto server = listener();
  EXPECT_THAT(exchange(server->port(), std::string("\0\x16\x03\x01 nonsense\r\n\r\n", 18)), Not(HasSubstr("a 1")));
  EXPECT_THAT(exchange(server->port(), "GET /metrics\r\n\r\nGET"), Not(HasSubstr("still open")));
  const std::string long_one(2 * HttpListener::kMostRequestBytes, 'x');
  EXPECT_THAT(exchange(server->port(), "GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + long_one + "\r\n\r\n"),
              Not(HasSubstr("a 1")));
  EXPECT_THAT(exchange(server->port(), "GET /" + long_one + " HTTP/1.1\r\nHost: a\r\n\r\n"), Not(HasSubstr("a 1")));
  EXPECT_THAT(exchange(server->port(), kGet), HasSubstr("a 1")) << "and goes on";
}

// Before the fix, 32 clients that never ended their request blocked the port for any length of time.
class SlowClients : public ::testing::TestWithParam<int> {};

TEST_P(SlowClients, DoNotBlockOtherClients) {
  const auto server = listener();
  std::vector<Fd> slow;
  for (int i = 0; i < GetParam(); ++i) {
    slow.push_back(connected(server->port()));
    (void)!::send(slow.back().get(), "GET /met", 8, MSG_NOSIGNAL);
  }
  for (int i = 0; i < 3; ++i) EXPECT_THAT(exchange(server->port(), kGet), HasSubstr("a 1"));
  EXPECT_THAT(rest_of(slow.front()), Not(HasSubstr("still open"))) << "the oldest had to go";
}

INSTANTIATE_TEST_SUITE_P(Number, SlowClients, ::testing::Values(32, 200));

// Before the fix, each scrape copied the page: 64 clients that never read held 64 copies.
TEST(HttpListener, SendsATextWithoutACopy) {
  const auto page = std::make_shared<const std::string>(std::string(16 << 20, 'a'));
  auto started = HttpListener::start({}, [&page]() -> HttpText { return page; });
  ASSERT_TRUE(started) << to_text(started.error());
  {
    std::vector<Fd> clients;
    for (int i = 0; i < 8; ++i) {
      clients.push_back(connected((*started)->port()));
      (void)!::send(clients.back().get(), kGet, std::char_traits<char>::length(kGet), MSG_NOSIGNAL);
    }
    for (int i = 0; i < 2000 && page.use_count() < 9; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(page.use_count(), 9) << "each client that is being sent it has a share";
  }
  for (int i = 0; i < 2000 && page.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(page.use_count(), 1) << "who has gone has none any more";
}

// Before the fix, a client that sent each byte just in time kept a connection open for any length of time.
TEST(HttpListener, EndsAClientThatSendsVerySlowly) {
  const auto server = listener();
  const Fd slow = connected(server->port());
  const auto begin = std::chrono::steady_clock::now();
  pollfd wanted{slow.get(), POLLIN, 0};
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() - begin < 6 * HttpListener::kLongest) {
    (void)!::send(slow.get(), "x", 1, MSG_NOSIGNAL);
    ended = ::poll(&wanted, 1, 500) == 1;
  }
  EXPECT_TRUE(ended);
}

class WithFiles : public ::testing::Test {
 protected:
  std::string config(const std::string& text) const {
    folder_.file("web.yaml", text);
    return folder_.at("web.yaml").string();
  }
  Error mistake(const std::string& text) const {
    const auto read = read_web_config(config(text));
    EXPECT_FALSE(read) << text;
    return read ? Error{} : read.error();
  }
  TempDir folder_;
};

// Before the fix, the listener of one certificate closed the socket for the next.
TEST(HttpListener, LeavesAPassedSocketToTheNextListener) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(HttpListener::start({.socket = socket.get()}, [] { return text(""); }).error().code, ErrorCode::invalid)
      << "it does not listen";
  ASSERT_EQ(::listen(socket.get(), 8), 0);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(exchange(listener({.socket = socket.get()})->port(), kGet), HasSubstr("a 1"));
}

class WebConfigFile : public WithFiles {};

TEST_F(WebConfigFile, NamesEachMistakeByItsLine) {
  const struct {
    const char* text;
    const char* where;
    const char* what;
  } mistakes[] = {
      {"tls_server_config:\n  cert_fil: x\n", "web.yaml:2:3  tls_server_config.cert_fil", "unknown key 'cert_fil'"},
      {"tls_server_config: {}\n", "web.yaml:1:20  tls_server_config", "both cert_file and key_file"},
      {"tls_server_config: {min_version: TLS10}\n", "web.yaml:1:34", "'TLS10' is not a supported version"},
      {"http_server_config: {http2: true}\n", "web.yaml:1:29  http_server_config.http2", "HTTP/2 is not supported"},
      {"http_server_config: {headers: {X-Mine: a}}\n", "web.yaml:1:32  http_server_config.headers.X-Mine",
       "unknown key"},
      {"rate_limit: {interval: 1s}\n", "web.yaml:1:1  rate_limit", "unknown key 'rate_limit'"},
      {"tls_server_config: {cert: a, key: b, client_auth_type: RequireAnyClientCert}\n",
       "tls_server_config.client_auth_type", "slipway verifies each certificate that it asks for"},
      {"tls_server_config: {cert: a, key: b, client_auth_type: RequireAndVerifyClientCert}\n", "tls_server_config",
       "client_ca_file and client_auth_type go together"},
      {"tls_server_config: {cert: a, key: b, min_version: TLS13, max_version: TLS12}\n", "tls_server_config",
       "max_version is below min_version"},
      {"basic_auth_users:\n  a: secret\n", "web.yaml:2:6  basic_auth_users.a", "bcrypt"},
      {"basic_auth_users: {}\n", "web.yaml:1:19", "1 to 256 users"},
      {"basic_auth_users: 3\n", "web.yaml:1:19", "expected a map"},
      {"a: [\n", "web.yaml:2:1", ""},
  };
  for (const auto& [text, where, what] : mistakes) {
    const Error error = mistake(text);
    EXPECT_EQ(error.code, ErrorCode::invalid) << text;
    EXPECT_THAT(error.where, HasSubstr(where)) << text;
    EXPECT_THAT(error.what, HasSubstr(what)) << text;
    EXPECT_THAT(to_text(error), Not(HasSubstr("secret"))) << "a password stays out of messages";
  }
  const std::string user = std::string("  a: ") + kHash + "\n";
  EXPECT_THAT(mistake("basic_auth_users:\n" + user + user).what, HasSubstr("twice"));
  std::string dear = user;
  dear.replace(dear.find("$04$"), 4, "$13$");
  EXPECT_THAT(mistake("basic_auth_users:\n" + dear).what, HasSubstr("costs too much"));
  dear.replace(dear.find("$13$"), 4, "$03$");
  EXPECT_THAT(mistake("basic_auth_users:\n" + dear).what, HasSubstr("bcrypt")) << "which nobody could ever match";
  EXPECT_EQ(mistake("tls_server_config: {cert_file: none.pem, key_file: x}\n").code, ErrorCode::not_found);
  EXPECT_EQ(read_web_config("/dev/zero").error().code, ErrorCode::invalid);
}

// yaml-cpp's own reader has no limits for values and aliases.
TEST_F(WebConfigFile, IsReadWithinLimits) {
  EXPECT_THAT(mistake("a: " + std::string(100, '[') + std::string(100, ']') + "\n").what, HasSubstr("nested deeper"));
  std::string many = "basic_auth_users:\n";
  for (int i = 0; i < 5000; ++i) many += "  u" + std::to_string(i) + ": x\n";
  EXPECT_THAT(mistake(many).what, HasSubstr("is not read"));
  std::string aliases = "a: &a0 [x, x]\n";
  for (int i = 1; i < 30; ++i)
    aliases += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
               std::to_string(i - 1) + "]\n";
  EXPECT_THAT(mistake(aliases).what, HasSubstr("is not read"));
}

// Before the fix, the state of the files was taken after they had been read: a change in between was never noticed.
TEST_F(WebConfigFile, IsOutdatedWhenItChangedAfterItWasRead) {
  const std::string text = std::string("basic_auth_users: {ada: '") + kHash + "'}\n";
  const auto read = read_web_config(config(text));
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_FALSE(read->changed());
  folder_.file("next.yaml", text);  // with the same size, as another user's file could have
  std::filesystem::rename(folder_.at("next.yaml"), folder_.at("web.yaml"));
  EXPECT_TRUE(read->changed());
  const auto again = read_web_config(folder_.at("web.yaml").string());
  EXPECT_FALSE(again->changed());
  std::filesystem::remove(folder_.at("web.yaml"));
  EXPECT_TRUE(again->changed());
}

// Before the fix, the file was looked up on the machine that the service ran on.
TEST_F(WebConfigFile, IsReadInsideTheRoot) {
  folder_.file("root/etc/web.yaml",
               "tls_server_config: {cert_file: cert.pem, key_file: /etc/key.pem, client_ca_file: link.pem, "
               "client_auth_type: VerifyClientCertIfGiven}\n");
  folder_.file("root/etc/cert.pem", "a certificate");
  folder_.file("root/etc/key.pem", "a key");
  ASSERT_EQ(::chmod(folder_.at("root/etc/key.pem").c_str(), 0600), 0);
  folder_.file("secret.pem", "of the machine");
  folder_.file("root/secret.pem", "of the root");
  std::filesystem::create_symlink("../../../../../../secret.pem", folder_.at("root/etc/link.pem"));
  const auto read = read_web_config("/etc/web.yaml", folder_.at("root").string());
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->certificate, "a certificate");
  EXPECT_EQ(read->key, "a key");
  EXPECT_EQ(read->client_ca, "of the root");
  EXPECT_FALSE(read->changed());
  folder_.file("root/etc/key.pem", "another key");
  EXPECT_TRUE(read->changed());
}

// Before the fix, a key that every user of the machine could read was used.
TEST_F(WebConfigFile, WithAPrivateKeyThatAllUsersMayReadIsRefused) {
  folder_.file("cert.pem", "a certificate");
  folder_.file("key.pem", "a key");
  const std::string inside = "tls_server_config: {cert: a, key: b}\n";
  EXPECT_EQ(mistake("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n").code, ErrorCode::denied);
  EXPECT_EQ(mistake(inside).code, ErrorCode::denied);
  ASSERT_EQ(::chmod(folder_.at("key.pem").c_str(), 0640), 0);
  EXPECT_TRUE(read_web_config(config("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")));
  const std::string file = config(inside);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_TRUE(read_web_config(file));
}

// A user who can write the file, or the files that it names, decides which clients are answered.
TEST_F(WebConfigFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  folder_.file("cert.pem", "a certificate");
  folder_.file("key.pem", "a key");
  const std::string file = config("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n");
  ASSERT_EQ(::chmod(folder_.at("key.pem").c_str(), 0600), 0);
  ASSERT_TRUE(read_web_config(file));
  for (const char* name : {"web.yaml", "cert.pem", "key.pem"}) {
    ASSERT_EQ(::chown(folder_.at(name).c_str(), 65534, 0), 0);
    const auto read = read_web_config(file);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::denied) << name;
    ASSERT_EQ(::chown(folder_.at(name).c_str(), 0, 0), 0);
  }
}

// Before the fix, an emptied file opened the gauges to all clients.
TEST_F(WebConfigFile, ThatAsksForNothingIsRefused) {
  for (const char* text : {"", "{}\n", "# nothing\n"}) {
    folder_.file("empty.yaml", text);
    const auto read = read_web_config(folder_.at("empty.yaml").string());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().what, HasSubstr("neither TLS nor passwords"));
  }
}

TEST_F(WebConfigFile, AsksForAUserAndAPassword) {
  const auto server = listener({.web_config = config(std::string("basic_auth_users: {ada: '") + kHash + "'}\n")});
  const std::string curl = "curl -s -w '%{http_code}' http://127.0.0.1:" + std::to_string(server->port()) + "/metrics ";
  EXPECT_THAT(output_of(curl), HasSubstr("401"));
  EXPECT_THAT(output_of(curl + "-u ada:secret"), HasSubstr("a 1\n200"));
  EXPECT_THAT(output_of(curl + "-u ada:wrong"), Not(HasSubstr("a 1")));
  EXPECT_THAT(output_of(curl + "-u eve:secret"), Not(HasSubstr("a 1")));
  EXPECT_THAT(output_of(curl + "-u ada:secret"), HasSubstr("a 1\n200"));
  EXPECT_FALSE(server->files_changed());
  (void)config("basic_auth_users: {}  # another\n");
  EXPECT_TRUE(server->files_changed());
}

// Before the fix, guessing clients blocked the user with the right password from the renewal of a certificate on.
TEST_F(WebConfigFile, ThatIsReadAgainKeepsKnownClients) {
  const std::string text = std::string("basic_auth_users: {ada: '") + kHash + "'}\n";
  const auto known = std::make_shared<KnownClients>();
  const auto ask = [](const HttpListener& server, const std::string& user_and_password) {
    return exchange(server.port(), "GET /metrics HTTP/1.0\r\nAuthorization: Basic " + user_and_password + "\r\n\r\n");
  };
  constexpr const char* kRight = "YWRhOnNlY3JldA==";  // ada:secret
  constexpr const char* kWrong = "YWRhOndyb25n";      // ada:wrong
  EXPECT_THAT(ask(*listener({.web_config = config(text), .known = known}), kRight), HasSubstr("a 1\n"));
  const auto next = listener({.web_config = config(text + "# renewed\n"), .known = known});
  std::string answer;
  for (int i = 0; i < 1000 && answer.find("429") == std::string::npos; ++i) answer = ask(*next, kWrong);
  EXPECT_THAT(answer, HasSubstr("429")) << "the same user guesses";
  EXPECT_THAT(ask(*next, kRight), HasSubstr("a 1\n"));
}

TEST_F(WebConfigFile, GivesTlsToARealClient) {
  const std::string folder = folder_.at("").string();
  ASSERT_EQ(std::system(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=here "
                         "-addext subjectAltName=IP:127.0.0.1 -keyout " +
                         folder + "/key.pem -out " + folder + "/cert.pem 2>/dev/null")
                            .c_str()),
            0);
  const std::string tls = "tls_server_config: {cert_file: cert.pem, key_file: key.pem, min_version: TLS13}\n";
  const auto server = listener({.web_config = config(tls)});
  const std::string port = std::to_string(server->port());
  const std::string curl = "curl -s --cacert " + folder + "/cert.pem ";
  EXPECT_EQ(output_of(curl + "https://127.0.0.1:" + port + "/metrics"), "a 1\n");
  EXPECT_EQ(output_of(curl + "--tls-max 1.2 https://127.0.0.1:" + port + "/metrics"), "");
  EXPECT_THAT(exchange(server->port(), kGet), Not(HasSubstr("a 1"))) << "nobody is answered in the clear";
  folder_.file("key.pem", "unknown key");
  const auto broken = HttpListener::start({.web_config = config(tls)}, [] { return text(""); });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::invalid);
}

TEST_F(WebConfigFile, AsksForACertificateOfTheClient) {
  const std::string folder = folder_.at("").string();
  const auto certificate = [&](const std::string& name) {
    return std::system(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
                        name + " -addext subjectAltName=IP:127.0.0.1 -keyout " + folder + "/" + name + ".key -out " +
                        folder + "/" + name + ".pem 2>/dev/null")
                           .c_str()) == 0;
  };
  ASSERT_TRUE(certificate("here") && certificate("friend") && certificate("stranger"));
  const std::string base =
      "http_server_config: {http2: false, headers: {X-Frame-Options: deny}}\n"
      "tls_server_config: {cert_file: here.pem, key_file: here.key, client_ca_file: friend.pem, "
      "max_version: TLS12, client_auth_type: ";
  for (const bool required : {true, false}) {
    const auto server = listener(
        {.web_config = config(base + (required ? "RequireAndVerifyClientCert}\n" : "VerifyClientCertIfGiven}\n"))});
    const std::string curl = "curl -s -i --max-time 10 --cacert " + folder +
                             "/here.pem https://127.0.0.1:" + std::to_string(server->port()) + "/metrics ";
    const auto as = [&](const std::string& name) {
      return output_of(curl + "--cert " + folder + "/" + name + ".pem --key " + folder + "/" + name + ".key");
    };
    EXPECT_THAT(as("friend"), HasSubstr("a 1\n"));
    EXPECT_THAT(as("friend"), HasSubstr("X-Frame-Options: deny\r\n"));
    EXPECT_THAT(as("stranger"), Not(HasSubstr("a 1\n")));
    EXPECT_THAT(output_of(curl), required ? HasSubstr(" 403 ") : HasSubstr("a 1\n"));
  }
}

/// Returns the number of times that the other threads of this process went to sleep.
long sleeps_of_other_threads() {
  long all = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;)
      if (long count = 0; word == "voluntary_ctxt_switches:" && status >> count) all += count;
  }
  return all;
}

// Before the fix, the listener's thread woke up four times a second, even without clients.
TEST(HttpListener, SleepsWhileNoClientIsConnected) {
  const auto here = listener();
  EXPECT_THAT(exchange(here->port(), kGet), HasSubstr("a 1\n"));
  bool slept = false;
  for (int tries = 0; tries < 30 && !slept; ++tries) {
    const long before = sleeps_of_other_threads();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    slept = sleeps_of_other_threads() == before;
  }
  EXPECT_TRUE(slept);
  EXPECT_THAT(exchange(here->port(), kGet), HasSubstr("a 1\n")) << "and it wakes up for the next one";
}

}  // namespace
}  // namespace slipway::base
