// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

#include <slipway/json.hpp>
#include <slipway/unix_socket.hpp>

namespace slipway {
namespace {

using Clock = std::chrono::steady_clock;

/// A service answers within 30 s, or is ended.
constexpr std::chrono::seconds kLimit{35};
constexpr std::string_view kRequest = "{\"op\":\"quiesce\"}\n";
constexpr std::string_view kEnding = ".sock";
constexpr std::size_t kMostServices = 256;
constexpr std::size_t kLongestAnswer = 65536;

struct QuiesceRequest {
  std::string service;
  Fd fd;
  std::string answer;
  bool open = true;  ///< it has not answered yet
};

Error not_quiesced_error(const std::string& service, const std::string& why) {
  return Error{.code = ErrorCode::busy,
               .what = "the service of " + service + " did not release the driver: " + why,
               .where = std::string(kControlFolder) + "/" + service + std::string(kEnding),
               .next = "look at `systemctl status slipway-" + service + "`, then run the same command again"};
}

Result<std::vector<QuiesceRequest>> ask_all(const Host& host) {
  std::vector<QuiesceRequest> asked;
  const auto names = host.list(kControlFolder);
  if (!names && names.error().code == ErrorCode::not_found) return asked;
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!name.ends_with(kEnding) || asked.size() == kMostServices) continue;
    const std::string service = name.substr(0, name.size() - kEnding.size());
    auto connected = connect_to(host, std::string(kControlFolder) + "/" + name);
    if (!connected && connected.error().code == ErrorCode::busy)
      return not_quiesced_error(service, "too many clients are connected to it");
    if (!connected && connected.error().code == ErrorCode::denied) return connected.error();
    if (!connected) continue;                                                                    // it does not run
    if (::send(connected->get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) continue;  // it has just ended
    asked.push_back({service, std::move(*connected), {}});
  }
  return asked;
}

/// Reads the available part of an answer.
Status read_answer(QuiesceRequest& asked) {
  std::array<char, 4096> part;
  const ssize_t got = ::recv(asked.fd.get(), part.data(), part.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) {
    asked.open = false;
    return {};
  }
  asked.answer.append(part.data(), static_cast<std::size_t>(got));
  const auto end = asked.answer.find('\n');
  if (end == std::string::npos)
    return asked.answer.size() < kLongestAnswer ? Status()
                                                : Status(not_quiesced_error(asked.service, "its answer does not end"));
  asked.open = false;
  const Json answer = parse_foreign(asked.answer.substr(0, end));
  if (answer.is_object() && answer.value("ok", Json()) == true) return {};
  const Json error = answer.is_object() ? answer.value("error", Json()) : Json();
  const Json what = error.is_object() ? error.value("what", Json()) : Json();
  return not_quiesced_error(asked.service, what.is_string() ? what.get<std::string>() : "it refused");
}

Status wait_for(std::vector<QuiesceRequest>& all, Clock::time_point end) {
  for (;;) {
    std::vector<pollfd> wanted;
    std::vector<QuiesceRequest*> open;
    for (QuiesceRequest& each : all) {
      if (!each.open) continue;
      wanted.push_back({each.fd.get(), POLLIN, 0});
      open.push_back(&each);
    }
    if (open.empty()) return {};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return not_quiesced_error(open.front()->service, "it does not answer");
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(left)) < 0 && errno != EINTR)
      return system_error("wait for", "services", errno);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (wanted[i].revents != 0) SLIPWAY_CHECK(read_answer(*open[i]));
  }
}

}  // namespace

Result<QuiescedServices> QuiescedServices::quiesce(const Host& host) {
  SLIPWAY_TRY(asked, ask_all(host));
  SLIPWAY_CHECK(wait_for(asked, Clock::now() + kLimit));
  QuiescedServices quiesced;
  for (QuiesceRequest& each : asked) quiesced.connections_.push_back(std::move(each.fd));
  return quiesced;
}

}  // namespace slipway
