// SPDX-License-Identifier: Apache-2.0
#include "dcgm/settings.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include <arpa/inet.h>
#include <unistd.h>

#include "nvidia/duration.hpp"

namespace slipway::dcgm {
namespace {

bool is_address(const std::string& text) {
  std::array<char, sizeof(in6_addr)> room{};
  return inet_pton(AF_INET, text.c_str(), room.data()) == 1 || inet_pton(AF_INET6, text.c_str(), room.data()) == 1;
}

/// Only programs of this machine reach it.
bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

Status read_listen(const std::string& text, Settings& settings) {
  const Error error{.code = ErrorCode::invalid,
                    .what = "'" + text + "' is no address to listen on",
                    .where = "spec.components.dcgm.listen",
                    .next = "write it like 127.0.0.1:9400 or [::1]:9400; :9400 is every address of this machine"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return error;
  std::string address = text.substr(0, colon);
  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (bracketed != (address.find(':') != std::string::npos)) return error;
  if (!address.empty() && !is_address(address)) return error;
  const char* const end = text.data() + text.size();
  std::uint16_t port = 0;
  const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, port);
  if (problem != std::errc{} || stop != end || port == 0) return error;
  settings.address = address.empty() ? "::" : address;
  settings.port = port;
  return {};
}

Result<std::chrono::milliseconds> read_interval(const std::string& text, const std::string& where) {
  constexpr std::chrono::milliseconds kShortest{100};
  constexpr std::chrono::milliseconds kLongest{3600000};
  const auto length = nvidia::parse_duration(text);
  if (length && *length >= kShortest && *length <= kLongest)
    return std::chrono::duration_cast<std::chrono::milliseconds>(*length);
  return Error{.code = ErrorCode::invalid,
               .what = length ? "an interval of " + text + " is " + (*length < kShortest ? "too short" : "too long")
                              : "'" + text + "' is no interval",
               .where = where,
               .next = "write it like 10s, 1m30s or 500ms; at least 100ms, at most 1h"};
}

Result<Counters> counters_of(const std::string& path, const Result<std::string>& text) {
  if (path.empty()) return parse_counters(default_counters(), "default-counters.csv");
  if (!text) return text.error();
  return parse_counters(*text, path);
}

std::string this_node() {
  if (const char* named = std::getenv("NODE_NAME"); named != nullptr && *named != '\0') return named;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<Settings> read_settings(const Spec& spec) {
  Settings settings{.collectors = spec.text("collectors"),
                    .web_config = spec.text("web_config_file"),
                    .node = spec.text("node"),
                    .driver_root = spec.text("driver_root")};
  SLIPWAY_CHECK(read_listen(spec.text("listen"), settings));
  SLIPWAY_TRY(interval, read_interval(spec.text("interval"), "spec.components.dcgm.interval"));
  settings.interval = interval;
  if (settings.node.empty()) settings.node = this_node();
  settings.page = spec.flag("page");
  const std::string processes = spec.text("page_processes");
  settings.page_processes = processes == "always" || (processes == "local" && is_loopback(settings.address));
  return settings;
}

}  // namespace slipway::dcgm
