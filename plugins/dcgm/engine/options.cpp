// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <arpa/inet.h>

namespace slipway::dcgm {
namespace {

constexpr const char* kDefaultPort = ":5555";

bool is_port(const std::string& text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, port);
  return problem == std::errc{} && stop == end && port != 0;
}

bool is_letter(unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// True for a name, or an IPv4 address of four bytes.
bool is_host(const std::string& text) {
  constexpr std::size_t kLongestName = 253;
  const auto fits = [](unsigned char c) { return is_letter(c) || c == '.' || c == '-' || c == '_'; };
  if (text.empty() || text.size() > kLongestName || !std::ranges::all_of(text, fits)) return false;
  if (!is_letter(static_cast<unsigned char>(text.front())) || text.find("..") != std::string::npos) return false;
  in_addr address{};
  const bool is_number = text.find_first_not_of("0123456789.") == std::string::npos;
  return !is_number || ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace

Result<EngineAddress> read_engine_address(const std::string& text) {
  constexpr std::string_view kTcp = "tcp://", kUnix = "unix://";
  const Error error{.code = ErrorCode::invalid,
                    .what = "'" + text + "' is not an address of a DCGM engine",
                    .where = "spec.components.dcgm.engine_address",
                    .next = "write it like localhost:5555, [::1]:5555 or unix:///tmp/nv-hostengine"};
  if (text.starts_with(kUnix)) {
    const std::string path = text.substr(kUnix.size());
    constexpr std::size_t kLongest = 107;  // size of sun_path in sockaddr_un, without its last byte
    if (!path.starts_with('/') || path.size() > kLongest) return error;
    return EngineAddress{path, true};
  }
  const std::string place = text.starts_with(kTcp) ? text.substr(kTcp.size()) : text;
  const std::size_t bracket = place.find(']');
  const bool bracketed = place.starts_with('[') && bracket != std::string::npos;
  const std::size_t colon = bracketed ? bracket + 1 : std::min(place.find(':'), place.size());
  const std::string host = bracketed ? place.substr(1, bracket - 1) : place.substr(0, colon);
  const std::string rest = place.substr(colon);
  if (bracketed ? !is_ipv6(host) : !is_host(host)) return error;
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return error;
  return EngineAddress{place.substr(0, colon) + (rest.empty() ? kDefaultPort : rest), false};
}

}  // namespace slipway::dcgm
