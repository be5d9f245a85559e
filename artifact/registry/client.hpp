// SPDX-License-Identifier: Apache-2.0
// artifact/registry/client.hpp - requests to one repository of one registry: scheme, login, redirects, retries; and
// downloads of blobs to the cache.
//
// Source: OCI distribution-spec 1.1.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <slipway/result.hpp>

#include "artifact/io/progress.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/oci/descriptor.hpp"
#include "artifact/registry/cache.hpp"
#include "artifact/registry/http/http.hpp"
#include "artifact/registry/http/reference.hpp"
#include "artifact/registry/login/authorizer.hpp"
#include "artifact/registry/retry.hpp"

namespace slipway::artifact {

struct ClientSettings {
  HttpSettings http;
  RetryPolicy retry;
  bool push = false;  ///< also request write access
};

/// Thread-safe. The caller may hold a lock while it waits, so time is limited: requests to a registry that has not
/// answered at all within `http.silence` fail, and so does every request after `http.longest`.
class RegistryClient {
 public:
  /// Uses TLS, except with `insecure: true`; for a registry on this machine, finds out whether it speaks TLS.
  /// Errors: `invalid` the repository's name; `unreachable`, `denied`, … of the first request.
  static Result<std::unique_ptr<RegistryClient>> open(const Source& source, const Reporter& reporter,
                                                      const ClientSettings& settings);

  const Reference& reference() const { return reference_; }
  /// Returns the URL of a path below the repository, such as "manifests/latest".
  std::string url(const std::string& path) const;

  /// Makes one attempt, including login and redirects. Every status except 401 and redirects is a result; a streamed
  /// upload that got a 401 returns it after the login was renewed.
  /// Errors: `denied`; `unreachable`, `timed_out` (worth retrying); the sink's.
  Result<HttpResponse> send_once(HttpRequest request);

  /// Retries after broken connections and temporary statuses. `make` builds the request of each attempt, at the pace of
  /// `retry`. Returns the answer or error of the last attempt.
  Result<HttpResponse> send(const std::function<Result<HttpRequest>()>& make);
  Result<HttpResponse> send(const HttpRequest& request) {
    return send([&request]() -> Result<HttpRequest> { return request; });
  }

  Retry retry() const { return Retry(settings_.retry); }
  /// Waits before another attempt. False when none is left, or the registry did not answer within `http.silence`.
  bool may_try_again(Retry& attempts, std::optional<std::chrono::seconds> asked = {}) const;
  /// Returns the deadline for a transfer of so many bytes that starts now, including all resumed attempts.
  std::chrono::steady_clock::time_point deadline_for(std::uint64_t bytes) const {
    return std::min(end_, std::chrono::steady_clock::now() + time_for(settings_.http, bytes));
  }

  /// Checks that data may be sent to a URL from the registry. Errors: `denied` the URL has no TLS where TLS is
  /// required.
  Status may_send(const std::string& url) const;

 private:
  RegistryClient(const Source& source, const Reporter& reporter, const ClientSettings& settings, Reference reference,
                 std::unique_ptr<HttpClient> http);
  Status find_scheme();
  std::chrono::steady_clock::time_point deadline() const { return answered_ ? end_ : std::min(end_, answer_by_); }
  Result<std::string> redirect_target(const HttpResponse& response, int count) const;
  void show_warnings(const HttpResponse& response);

  Reporter reporter_;
  ClientSettings settings_;
  std::chrono::steady_clock::time_point end_;        ///< for everything
  std::chrono::steady_clock::time_point answer_by_;  ///< for the first answer
  std::atomic<bool> answered_ = false;
  Reference reference_;
  bool insecure_;
  std::unique_ptr<HttpClient> http_;
  std::string base_;  ///< "https://host:port"
  Authorizer authorizer_;
  std::mutex warned_mutex_;
  std::set<std::string> warned_;
};

/// Downloads the missing part of `blob`, checks size and digest, and completes it. Waits for another process that
/// downloads the same blob. Does nothing when the cache has it.
/// @return  bytes that came over the network
/// Errors: `not_found` the repository lacks it; `corrupt` wrong digest or size (the partial file is removed);
/// `unreachable` all attempts failed (the partial file stays for the next time); `denied`, `no_space`, `io`.
Result<std::uint64_t> download(RegistryClient& client, const BlobCache& cache, const Descriptor& blob,
                               Progress& progress);

}  // namespace slipway::artifact
