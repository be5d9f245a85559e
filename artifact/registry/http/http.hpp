// SPDX-License-Identifier: Apache-2.0
// artifact/registry/http/http.hpp - one HTTP exchange at a time, by libcurl: no redirects, no retries, no credentials;
// why one failed, and whose authorities count.
//
// libcurl itself follows the proxy variables (http_proxy, HTTPS_PROXY, NO_PROXY, …), except towards this machine.
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
  std::string ca_file;                             ///< PEM, besides the system's CAs; empty: none
  std::chrono::seconds connect_timeout{15};        ///< until the connection stands, TLS included
  std::chrono::seconds stall_timeout{30};          ///< a transfer that is slower than the next for so long is given up
  std::uint64_t slowest_bytes = 8UL << 10;         ///< in a second, of a transfer that still counts as one
  std::uint64_t average_bytes = 64UL << 10;        ///< in a second, over all of a transfer, beside `grace`
  std::chrono::seconds grace{300};                 ///< for connections, for the registry's own work, for small answers
  std::chrono::seconds silence{30};                ///< for the first answer of a registry, however often it is asked
  std::chrono::seconds longest{3600};              ///< for all that one client asks of a registry, unless it pushes
  std::uint64_t max_body_bytes = (4UL << 20) + 1;  ///< of an answer that is kept in memory
};

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;  ///< names in lower case
  std::string body;                                 ///< empty where a sink took it
  std::string url;                                  ///< that was asked

  /// The header's (first) value, or an empty string.
  std::string header(const std::string& name) const;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::uint64_t expected_bytes = 0;       ///< of the body that the sink gets
  std::vector<std::string> headers = {};  ///< "Name: value"
  std::string body = {};                  ///< sent with POST and PUT
  ByteSource* upload = nullptr;           ///< instead of `body`: `upload_size` bytes are streamed; borrowed
  std::uint64_t upload_size = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Takes the body of a 200 or 206 as it comes; the response so far has status and headers. An error ends the
  /// transfer.
  std::function<Status(const HttpResponse&, std::span<const std::byte>)> sink = {};
};

/// What a transfer of so many bytes may take in all, however often it is begun.
std::chrono::seconds time_for(const HttpSettings& settings, std::uint64_t bytes);

/// Keeps connections for reuse. Thread-safe: each exchange has a connection to itself.
class HttpClient {
 public:
  /// Errors: `not_found`, `denied` the CA file cannot be read; `invalid` it holds no PEM.
  static Result<std::unique_ptr<HttpClient>> create(const HttpSettings& settings);
  ~HttpClient();

  /// Any status is a result. Errors: `unreachable` no or half an answer (worth another try); `timed_out` it stalled
  /// (the same); `denied` the TLS certificate is not trusted; `unsupported` no TLS is spoken there; the sink's own.
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

/// `reference` as it stands in a Location or Link header, made absolute. Empty when it is no URL of http or https.
std::string resolve_url(const std::string& base, const std::string& reference);

/// "scheme://host:port" of a URL, the port always given; empty when it is none.
std::string origin_of_url(const std::string& url);
/// The host of a URL without its port.
std::string host_of_url(const std::string& url);

/// The text with everything but letters, digits, '-', '.', '_' and '~' percent-encoded.
std::string percent_encoded(const std::string& text);

/// The error of an exchange without a whole answer. `code` is a CURLcode, `message` what libcurl says of it.
/// @param os_error  errno of the connection; 0: none
Error transport_error(const std::string& url, int code, const std::string& message, int os_error = 0);

/// The error of a registry with which the time for all that is wanted of it went by.
Error out_of_time(const std::string& url, std::chrono::seconds limit);

/// Whether the same request may work a moment later: not where nobody listens, and not for a name that nobody has.
bool is_worth_retrying(const Error& error);

/// The error of an answer that was not the one wanted: by status, with what the registry says itself.
/// @param doing  what was tried: "read the tags of nvidia/driver"
Error refusal(const HttpResponse& response, const std::string& doing);

/// The first that is there, as a path of `root`; empty when none is. The library's own choice is that of the
/// distribution which it was built on, so that it fails on others.
std::string system_ca_file(const std::string& root);

}  // namespace slipway::artifact
