// SPDX-License-Identifier: Apache-2.0
// artifact/registry/http/http.hpp - one HTTP exchange at a time, with libcurl: no redirects, no retries, no
// credentials; the reasons of failures, and the trusted CAs.
//
// libcurl itself uses the proxy variables (http_proxy, HTTPS_PROXY, NO_PROXY, …), except for this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/io/byte_source.hpp"

namespace slipway::artifact {

struct HttpSettings {
  std::string ca_file;                             ///< PEM, in addition to the system's CAs; empty: none
  std::chrono::seconds connect_timeout{15};        ///< until the connection is ready, including TLS
  std::chrono::seconds stall_timeout{30};          ///< a transfer slower than the next value for this time fails
  std::uint64_t slowest_bytes = 8UL << 10;         ///< minimum per second
  std::uint64_t average_bytes = 64UL << 10;        ///< average per second over a whole transfer, in addition to `grace`
  std::chrono::seconds grace{300};                 ///< for connections, the registry's own work, and small answers
  std::chrono::seconds silence{30};                ///< for the first answer of a registry, over all attempts
  std::chrono::seconds longest{3600};              ///< for all requests of one client to a registry, unless it pushes
  std::uint64_t max_body_bytes = (4UL << 20) + 1;  ///< for an answer that is kept in memory
};

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;  ///< names in lower case
  std::string body;                                 ///< empty when a sink received it
  std::string url;                                  ///< the requested URL

  /// Returns the header's (first) value, or an empty string.
  std::string header(const std::string& name) const;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::uint64_t expected_bytes = 0;       ///< of the body for the sink
  std::vector<std::string> headers = {};  ///< "Name: value"
  std::string body = {};                  ///< sent with POST and PUT
  ByteSource* upload = nullptr;           ///< instead of `body`: streams `upload_size` bytes; borrowed
  std::uint64_t upload_size = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Receives the body of a 200 or 206 in pieces; the response so far has status and headers. An error ends the
  /// transfer.
  std::function<Status(const HttpResponse&, std::span<const std::byte>)> sink = {};
};

/// Returns the total time for a transfer of so many bytes, over all attempts.
std::chrono::seconds time_for(const HttpSettings& settings, std::uint64_t bytes);

/// Keeps connections for reuse. Thread-safe: each exchange uses its own connection.
class HttpClient {
 public:
  /// Errors: `not_found`, `denied` the CA file cannot be read; `invalid` it contains no PEM.
  static Result<std::unique_ptr<HttpClient>> create(const HttpSettings& settings);
  ~HttpClient();

  /// Any status is a result. Errors: `unreachable` no answer or an incomplete one (worth retrying); `timed_out` it
  /// stalled (the same); `denied` the TLS certificate is not trusted; `unsupported` the server does not speak TLS; the
  /// sink's own.
  Result<HttpResponse> send(const HttpRequest& request);

 private:
  struct Handle;
  explicit HttpClient(const HttpSettings& settings, std::string ca_bundle);
  std::unique_ptr<Handle> take();
  void give_back(std::unique_ptr<Handle> handle);

  HttpSettings settings_;
  std::string ca_bundle_;  ///< PEM of the system's CAs and the private one; empty: libcurl's defaults
  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

/// Returns the absolute URL of a Location or Link header. Empty when it is not a URL of http or https.
std::string resolve_url(const std::string& base, const std::string& reference);

/// Returns "scheme://host:port" of a URL, always with the port; empty when it is not a URL.
std::string origin_of_url(const std::string& url);
/// Returns the host of a URL without its port.
std::string host_of_url(const std::string& url);

/// Returns the text with everything except letters, digits, '-', '.', '_' and '~' percent-encoded.
std::string percent_encoded(const std::string& text);

/// Returns the error of an exchange without a complete answer. `code` is a CURLcode, `message` libcurl's text for it.
/// @param os_error  errno of the connection; 0: none
Error transport_error(const std::string& url, int code, const std::string& message, int os_error = 0);

/// Returns the error for a registry that exceeded the time for all requests.
Error out_of_time(const std::string& url, std::chrono::seconds limit);

/// True when the same request may succeed a moment later: not when no process listens, and not for a name that does not
/// exist.
bool is_worth_retrying(const Error& error);

/// Returns the error for an unsuccessful answer: by status, with the registry's own message.
/// @param doing  the attempted operation: "read the tags of nvidia/driver"
Error refusal(const HttpResponse& response, const std::string& doing);

/// Returns the first existing CA file, as a path of `root`; empty if not found. The library's own default is that
/// of the distribution it was built on, so that it fails on others.
std::string system_ca_file(const std::string& root);

}  // namespace slipway::artifact
