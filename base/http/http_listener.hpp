// SPDX-License-Identifier: Apache-2.0
// base/http/http_listener.hpp - answers GET /metrics, GET /health if the service has it, and pages that a
// service has rendered; nothing else.
//
// Everything that one client can use is limited: connections, bytes of a request, seconds. With too many connections,
// the oldest one of the peer with the most is closed, so that slow or silent clients do not block others.
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

namespace slipway::base {

struct KnownClients;  // basic_auth.hpp

struct HttpSettings {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6; "::": all addresses of this machine, of both
  std::uint16_t port = 0;             ///< 0: any free port
  std::string web_config;             ///< the path of a web-config file (web_config.hpp); empty: neither TLS nor users
  std::string root = "/";             ///< the folder used as "/" for that path
  std::string key = "port";           ///< the spec's key of the port, for messages
  int socket = -1;                    ///< a listening socket to use instead of address and port; borrowed
  std::vector<std::string> names;     ///< further names that it is reached by, besides this machine's (is_own_name())
  std::shared_ptr<KnownClients> known;  ///< outlives a listener; null: no known clients
};

/// The answer to GET /health: 200, or 503 with the problem.
struct ServiceHealth {
  bool well = false;
  std::string text;  ///< including its line ends
};

/// A rendered text. It is sent as it is, and exists until the last reader has received it.
using HttpText = std::shared_ptr<const std::string>;

/// True when an Accept header prefers application/openmetrics-text to text/plain.
bool prefers_openmetrics(std::string_view accept);
/// A rendered page. Clients must not store it, and no other site may show or read it.
struct HttpPage {
  std::string type;    ///< "text/html; charset=utf-8"
  std::string policy;  ///< Content-Security-Policy; empty: allows nothing
  HttpText body;       ///< null: not available now
};
/// Returns nothing when there is no such page. Called from the listener's thread.
using HttpPages = std::function<std::optional<HttpPage>(std::string_view path)>;

class HttpListener {
 public:
  static constexpr std::size_t kMostConnections = 64;
  static constexpr std::size_t kMostOfAPeer = 16;
  static constexpr std::chrono::seconds kLongest{10};         ///< for a connection, from its start
  static constexpr std::size_t kMostRequestBytes = 16 << 10;  ///< for the first line and the headers

  /// @param text  called for each request of /metrics, from the listener's thread; never null
  /// @param health  the same for /health; empty: not found
  /// @param openmetrics  the text for clients that prefer OpenMetrics; empty: they get the other one
  /// @param pages  the same for all other paths; empty: not found
  /// Errors: `busy` the port is in use; `invalid` the address or a certificate is invalid, or `socket` does not listen;
  /// those of read_web_config().
  static Result<std::unique_ptr<HttpListener>> start(const HttpSettings& settings, std::function<HttpText()> text,
                                                     std::function<ServiceHealth()> health = {},
                                                     std::function<HttpText()> openmetrics = {}, HttpPages pages = {});
  virtual ~HttpListener() = default;
  virtual std::uint16_t port() const = 0;
  /// True when the web-config file, the certificate or the key has changed since the start.
  virtual bool files_changed() const = 0;
};

}  // namespace slipway::base
