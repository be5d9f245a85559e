// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/login/authorizer.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "artifact/oci/json_field.hpp"
#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {
namespace {

std::string parameter(const Challenge& challenge, const char* name) {
  const auto found = challenge.parameters.find(name);
  return found == challenge.parameters.end() ? std::string() : found->second;
}

/// Returns the challenge of a response that slipway can answer best.
std::optional<Challenge> best_challenge(const HttpResponse& response) {
  std::optional<Challenge> basic;
  const auto [begin, end] = response.headers.equal_range("www-authenticate");
  for (auto item = begin; item != end; ++item) {
    Challenge challenge = parse_challenge(item->second);
    if (challenge.scheme == "bearer") return challenge;
    if (challenge.scheme == "basic") basic = std::move(challenge);
  }
  return basic;
}

std::string basic_header(const Credentials& credentials) {
  return "Authorization: Basic " + base64_encoded(credentials.user + ":" + credentials.password);
}

/// True when the text has only characters of a token; others could add another header.
bool is_token(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) { return letter > 0x20 && letter < 0x7f; });
}

}  // namespace

Authorizer::Authorizer(HttpClient& http, Reference reference, std::string auth_file, std::string scope,
                       std::function<Status(const std::string& url)> may_send)
    : http_(http),
      reference_(std::move(reference)),
      auth_file_(std::move(auth_file)),
      scope_(std::move(scope)),
      may_send_(std::move(may_send)) {}

std::string Authorizer::header() const {
  const std::scoped_lock lock(mutex_);
  return header_;
}

Status Authorizer::renew(const HttpResponse& refused, const std::string& used) {
  const std::scoped_lock lock(mutex_);
  if (header_ != used) return {};
  const auto challenge = best_challenge(refused);
  if (!challenge) return denied("it does not offer a login method");
  SLIPWAY_TRY(header, answer_to(*challenge, used));
  header_ = std::move(header);
  return {};
}

Result<std::string> Authorizer::answer_to(const Challenge& challenge, const std::string& used) {
  SLIPWAY_CHECK(look_up());
  if (challenge.scheme == "bearer") return token_for(challenge);
  if (!credentials_ || !credentials_->identity_token.empty()) return denied("it requires a user and password");
  std::string header = basic_header(*credentials_);
  if (header == used)
    return denied("it refuses the password of " + credentials_->user + " from " + credentials_->found_in);
  return header;
}

Result<std::string> Authorizer::token_for(const Challenge& challenge) {
  const std::string realm = parameter(challenge, "realm");
  if (resolve_url(realm, realm).empty()) return denied("it names no token service that slipway can use");
  SLIPWAY_CHECK(may_send_(realm));
  SLIPWAY_TRY(response, ask_for_token(challenge, realm));
  if (response.status == 401 || response.status == 403) {
    Error error = denied(credentials_ ? "its token service refuses the login of " + credentials_->user + " from " +
                                            credentials_->found_in
                                      : "its token service requires a login");
    error.details.emplace_back("service", origin_of_url(realm));
    return error;
  }
  if (response.status != 200) return refusal(response, "get a token for " + reference_.authority());
  SLIPWAY_TRY(body, parse_json(response.body, "the answer of the token service " + origin_of_url(realm)));
  std::string token = text_at(body, "token");
  if (token.empty()) token = text_at(body, "access_token");
  if (!is_token(token)) return denied("its token service " + origin_of_url(realm) + " returned no token");
  return "Authorization: Bearer " + token;
}

Result<HttpResponse> Authorizer::ask_for_token(const Challenge& challenge, const std::string& realm) {
  // Uses the registry's scope, unless it is less than the next request needs.
  const std::string asked = parameter(challenge, "scope");
  const std::string scope = asked.empty() || scope_.ends_with(",push") ? scope_ : asked;
  const std::string service = parameter(challenge, "service");
  const std::string query = "service=" + percent_encoded(service) + "&scope=" + percent_encoded(scope);
  if (credentials_ && !credentials_->identity_token.empty())
    return http_.send({.method = "POST",
                       .url = realm,
                       .headers = {"Content-Type: application/x-www-form-urlencoded"},
                       .body = "grant_type=refresh_token&client_id=slipway&" + query +
                               "&refresh_token=" + percent_encoded(credentials_->identity_token)});
  HttpRequest request{.url = realm + (realm.find('?') == std::string::npos ? "?" : "&") + query};
  if (credentials_) request.headers.push_back(basic_header(*credentials_));
  return http_.send(request);
}

Status Authorizer::look_up() {
  if (looked_up_) return {};
  SLIPWAY_TRY(found, login_of(reference_, auth_file_));
  credentials_ = std::move(found);
  looked_up_ = true;
  return {};
}

Error Authorizer::denied(const std::string& why) const {
  Error error{.code = ErrorCode::denied,
              .what = "registry " + reference_.authority() + " refuses access: " + why,
              .where = "oci://" + reference_.authority() + "/" + reference_.name,
              .next = "log in (`docker login " + reference_.authority() + "` or `skopeo login " +
                      reference_.authority() + "`), or set `auth` to a config.json with this registry"};
  if (!credentials_) error.details.emplace_back("login", "no login is configured for " + reference_.authority());
  return error;
}

}  // namespace slipway::artifact
