// SPDX-License-Identifier: Apache-2.0
// artifact/registry/login/authorizer.hpp - the Authorization header of one registry: Basic, or a token that is renewed.
//
// Source: distribution's token authentication (RFC 6750 challenges, a GET with Basic; OAuth2 POST for refresh tokens).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <slipway/result.hpp>

#include "artifact/registry/http/http.hpp"
#include "artifact/registry/login/credentials.hpp"

namespace slipway::artifact {

/// The parts of a WWW-Authenticate header.
struct Challenge {
  std::string scheme;                             ///< in lower case: "bearer", "basic"
  std::map<std::string, std::string> parameters;  ///< names in lower case: realm, service, scope, error
};
Challenge parse_challenge(const std::string& header);

/// Thread-safe. Looks up the credentials when the registry first requires them, not before.
class Authorizer {
 public:
  /// @param may_send  checks that credentials may be sent to this URL (a token service's); else returns the reason
  Authorizer(HttpClient& http, Reference reference, std::string auth_file, std::string scope,
             std::function<Status(const std::string& url)> may_send);

  /// Returns "Authorization: …"; empty until the registry requires it.
  std::string header() const;

  /// Gets a new header after a 401. `used` is the refused header; if another thread has renewed it meanwhile, that one
  /// is kept.
  /// Errors: `denied` no login, or a wrong one; those of reaching the token service.
  Status renew(const HttpResponse& refused, const std::string& used);

 private:
  Result<std::string> answer_to(const Challenge& challenge, const std::string& used);
  Result<std::string> token_for(const Challenge& challenge);
  Result<HttpResponse> ask_for_token(const Challenge& challenge, const std::string& realm);
  Status look_up();
  Error denied(const std::string& why) const;

  HttpClient& http_;
  Reference reference_;
  std::string auth_file_;
  std::string scope_;  ///< "repository:NAME:pull" or "…:pull,push"
  std::function<Status(const std::string& url)> may_send_;
  mutable std::mutex mutex_;
  std::string header_;
  bool looked_up_ = false;
  std::optional<Credentials> credentials_;
};

}  // namespace slipway::artifact
