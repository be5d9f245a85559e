// SPDX-License-Identifier: Apache-2.0
// base/http/http_listener.hpp - answers GET /metrics, GET /health of a service that has one, and pages that
// a service has rendered; nothing else.
//
// What one client can take is bounded: connections, bytes of a request, seconds. Of too many connections the oldest
// goes, of the peer that has the most, so that clients who are slow, or never ask, keep nobody from being answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

struct KnownClients;  // basic_auth.hpp

struct HttpSettings {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6; "::" all of this machine, of both
  std::uint16_t port = 0;             ///< 0: one that is free
  std::string web_config;             ///< the path of a web-config file (web_config.hpp); empty: neither TLS nor users
  std::string root = "/";             ///< the folder that is "/" for that path
  std::string key = "port";           ///< the spec's key of the port, for messages
  int socket = -1;                    ///< one that listens already, in the place of address and port; borrowed
  std::vector<std::string> names;     ///< that it is asked under, besides this machine's (is_own_name())
  std::shared_ptr<KnownClients> known;  ///< that outlives a listener; null: nobody was right before
};

/// What GET /health answers: 200, or 503 with what is wrong.
struct ServiceHealth {
  bool well = false;
  std::string text;  ///< with its line ends
};

/// A text that was rendered before. It is sent as it is, and stays until the last of those who read it has it.
using HttpText = std::shared_ptr<const std::string>;

/// Whether an Accept header prefers application/openmetrics-text to text/plain.
bool prefers_openmetrics(std::string_view accept);
/// A page that was rendered before. It is not kept by whoever asked, and no other site may show or read it.
struct HttpPage {
  std::string type;    ///< "text/html; charset=utf-8"
  std::string policy;  ///< Content-Security-Policy; empty: nothing at all is allowed
  HttpText body;       ///< null: it is not there now
};
/// Nothing: there is no such page. Called from the listener's thread.
using HttpPages = std::function<std::optional<HttpPage>(std::string_view path)>;

class HttpListener {
 public:
  static constexpr std::size_t kMostConnections = 64;
  static constexpr std::size_t kMostOfAPeer = 16;
  static constexpr std::chrono::seconds kLongest{10};         ///< of a connection, from its start
  static constexpr std::size_t kMostRequestBytes = 16 << 10;  ///< its first line and headers

  /// @param text  called for each request of /metrics, from the listener's thread; never null
  /// @param health  the same for /health; empty: that is not found
  /// @param openmetrics  the text for clients that would rather have OpenMetrics; empty: they get the other one
  /// @param pages  the same for all other paths; empty: they are not found
  /// Errors: `busy` the port is taken; `invalid` the address is none, or a certificate, or `socket` does not listen;
  /// those of read_web_config().
  static Result<std::unique_ptr<HttpListener>> start(const HttpSettings& settings, std::function<HttpText()> text,
                                                     std::function<ServiceHealth()> health = {},
                                                     std::function<HttpText()> openmetrics = {}, HttpPages pages = {});
  virtual ~HttpListener() = default;
  virtual std::uint16_t port() const = 0;
  /// The web-config file, the certificate or the key is another than it was at the start.
  virtual bool files_changed() const = 0;
};

}  // namespace slipway
