// SPDX-License-Identifier: Apache-2.0
// Asks the running service.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <slipway/fd.hpp>
#include <slipway/process/child_process.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

#include "dcgm/settings.hpp"
#include "dcgm/top/source.hpp"

namespace slipway::dcgm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = 4 << 20;
constexpr std::size_t kMostOfAFile = 1 << 20;
constexpr std::string_view kTlsAlert = "\x15\x03";  // TLS content type "alert" and the major version

/// IPv4 or IPv6.
struct Peer {
  sockaddr_storage address{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

std::optional<Peer> peer_at(const std::string& address, std::uint16_t port) {
  Peer peer;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&peer.address);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&peer.address);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    peer.size = sizeof *v4;
    return peer;
  }
  if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) != 1) return std::nullopt;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  peer.size = sizeof *v6;
  return peer;
}

class ServiceSource final : public OverviewSource {
 public:
  ServiceSource(std::string address, std::uint16_t port) : address_(std::move(address)), port_(port) {}

  std::string name() const override { return "from the service at " + place(); }

  Result<Overview> read(std::chrono::milliseconds limit) override {
    SLIPWAY_TRY(answer, ask(Clock::now() + limit));
    const std::size_t body = answer.find("\r\n\r\n");
    const std::size_t space = answer.find(' ');
    if (answer.empty() || answer.starts_with(kTlsAlert)) return encrypted(!answer.empty());
    if (!answer.starts_with("HTTP/1.") || body == std::string::npos || space == std::string::npos) return foreign();
    const std::string status = answer.substr(space + 1, 3);
    if (status == "401")
      return Error{ErrorCode::denied,
                   "the service at " + place() + " asks for a password",
                   place(),
                   "`slipway top --direct` samples by itself",
                   {}};
    if (status == "503")
      return Error{ErrorCode::busy,
                   "the service at " + place() + " has no values at the moment",
                   place(),
                   "`slipway status` shows the reason",
                   {}};
    if (status == "404")
      return Error{ErrorCode::not_found,
                   "the service at " + place() + " has no page",
                   place(),
                   "set `page: true` for dcgm in the spec, or use `slipway top --direct`, which needs no service",
                   {}};
    if (status != "200") return foreign();
    auto overview = overview_from_json(parse_foreign(std::string_view(answer).substr(body + 4)));
    return overview ? overview : foreign();
  }

 private:
  std::string place() const {
    return (address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]") + ":" + std::to_string(port_);
  }
  /// A TLS server answers plain HTTP with an alert, or closes the connection.
  Error encrypted(bool certain) const {
    return {ErrorCode::denied,
            "the server at " + place() + " closes plain HTTP connections: it " +
                (certain ? "requires" : "may require") + " TLS, which slipway top does not support",
            place(),
            "use `slipway top --direct`, which needs no service, or open the service's page in a browser",
            {}};
  }
  Error foreign() const {
    return {ErrorCode::invalid,
            "the server at " + place() + " is not slipway's service dcgm",
            place(),
            "`slipway top --direct` samples by itself",
            {}};
  }
  Error failed(int problem) const {
    return {ErrorCode::not_found,
            "the service at " + place() + " does not answer: " + std::strerror(problem),
            place(),
            "`slipway status` tells whether the service runs; `slipway top --direct` needs no service",
            {}};
  }

  Result<std::string> ask(Clock::time_point end) const {
    const auto peer = peer_at(address_, port_);
    if (!peer) return failed(EINVAL);
    const Fd socket(::socket(peer->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) return failed(errno);
    if (::connect(socket.get(), peer->get(), peer->size) != 0 && errno != EINPROGRESS) return failed(errno);
    if (!ready(socket.get(), POLLOUT, end)) return failed(ETIMEDOUT);
    int problem = 0;
    socklen_t size = sizeof problem;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem != 0) return failed(problem);
    const std::string request = "GET /overview.json HTTP/1.0\r\nHost: " + place() + "\r\n\r\n";
    if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
      return failed(errno);
    std::string answer;
    std::array<char, 16384> piece{};
    while (ready(socket.get(), POLLIN, end)) {
      const ssize_t got = ::recv(socket.get(), piece.data(), piece.size(), 0);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return answer;
      if (got < 0 && errno != EINTR && errno != EAGAIN) return failed(errno);
      if (got > 0) answer.append(piece.data(), static_cast<std::size_t>(got));
      if (answer.size() > kMostBytes) return foreign();
    }
    return failed(ETIMEDOUT);
  }

  static bool ready(int fd, short what, Clock::time_point end) {
    pollfd one{fd, what, 0};
    const auto left = time_left(end);
    return left.count() > 0 && ::poll(&one, 1, static_cast<int>(left.count())) > 0;
  }

  std::string address_;
  std::uint16_t port_;
};

}  // namespace

std::unique_ptr<OverviewSource> service_at(const std::string& address, std::uint16_t port) {
  return std::make_unique<ServiceSource>(address, port);
}

std::optional<ServicePlace> service_place(const std::string& root) {
  const auto folder = RootDir::open(root);
  const auto text =
      folder ? read_regular(*folder, "/etc/slipway/services/dcgm.json", kMostOfAFile) : Result<std::string>(Error{});
  const Json left = text ? parse_foreign(*text) : Json();
  const Json spec = left.is_object() ? left.value("spec", Json()) : Json();
  if (!spec.is_object()) return std::nullopt;
  const Json listen = spec.value("listen", Json());
  Settings settings;
  if (!listen.is_string() || !read_listen(listen.get<std::string>(), settings)) return std::nullopt;
  const bool everywhere = settings.address == "::" || settings.address == "0.0.0.0";
  return ServicePlace{everywhere ? "127.0.0.1" : settings.address, settings.port};
}

}  // namespace slipway::dcgm
