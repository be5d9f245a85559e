// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/client.hpp"

#include "artifact/io/entry_rules.hpp"
#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {
namespace {

constexpr int kMaxRedirects = 5;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Returns the API host for a registry's name: Docker Hub has a different one.
std::string api_authority(const Reference& reference) {
  return reference.host == "docker.io" ? "registry-1.docker.io" : reference.authority();
}

/// Adds the number of attempts when there were several.
Error after_attempts(Error error, const Retry& attempts) {
  if (attempts.made() > 1) error.details.emplace_back("tried", std::to_string(attempts.made()) + " times");
  return error;
}

/// Returns the error for a registry on loopback that answers neither with TLS nor without.
Error without_scheme(Error error) {
  constexpr std::string_view kScheme = "https://";
  for (std::string* const text : {&error.what, &error.where})
    if (text->starts_with(kScheme)) text->erase(0, kScheme.size());
  return error;
}

bool is_plain_http(const std::string& url) { return url.starts_with("http://"); }

}  // namespace

RegistryClient::RegistryClient(const Source& source, const Reporter& reporter, const ClientSettings& settings,
                               Reference reference, std::unique_ptr<HttpClient> http)
    : reporter_(reporter),
      settings_(settings),
      end_(settings.push ? std::chrono::steady_clock::time_point::max()
                         : std::chrono::steady_clock::now() + settings.http.longest),
      answer_by_(std::chrono::steady_clock::now() + settings.http.silence),
      reference_(std::move(reference)),
      insecure_(source.insecure),
      http_(std::move(http)),
      base_("https://" + api_authority(reference_)),
      authorizer_(*http_, reference_, source.auth_file,
                  "repository:" + reference_.name + (settings.push ? ":pull,push" : ":pull"),
                  [this](const std::string& url) { return may_send(url); }) {}

Result<std::unique_ptr<RegistryClient>> RegistryClient::open(const Source& source, const Reporter& reporter,
                                                             const ClientSettings& settings) {
  SLIPWAY_TRY(reference, parse_reference(source.repository));
  HttpSettings http_settings = settings.http;
  http_settings.ca_file = source.ca_file;
  SLIPWAY_TRY(http, HttpClient::create(http_settings));
  std::unique_ptr<RegistryClient> client(
      new RegistryClient(source, reporter, settings, std::move(reference), std::move(http)));
  // A private CA means that TLS is wanted.
  if (source.ca_file.empty()) SLIPWAY_CHECK(client->find_scheme());
  return client;
}

std::string RegistryClient::url(const std::string& path) const { return base_ + "/v2/" + reference_.name + "/" + path; }

Status RegistryClient::find_scheme() {
  if (!insecure_ && !reference_.is_loopback()) return {};
  if (insecure_) {
    base_ = "http://" + api_authority(reference_);
    return {};
  }
  for (Retry attempts = retry();;) {
    const auto answer = http_->send({.method = "GET", .url = base_ + "/v2/", .deadline = deadline()});
    answered_ = answered_ || answer;
    if (answer) return {};
    if (answer.error().code == ErrorCode::unsupported) break;  // a server answers, but not with TLS
    if (!is_worth_retrying(answer.error()) || !may_try_again(attempts))
      return after_attempts(without_scheme(answer.error()), attempts);
  }
  base_ = "http://" + api_authority(reference_);
  return {};
}

bool RegistryClient::may_try_again(Retry& attempts, std::optional<std::chrono::seconds> asked) const {
  return std::chrono::steady_clock::now() < deadline() && attempts.again(asked) &&
         std::chrono::steady_clock::now() < deadline();
}

Status RegistryClient::may_send(const std::string& url) const {
  if (!is_plain_http(url) || insecure_) return {};
  if (is_plain_http(base_) && is_loopback_host(host_of_url(url))) return {};
  return Error{
      .code = ErrorCode::denied,
      .what =
          "registry " + reference_.authority() + " sends slipway to " + origin_of_url(url) + ", which does not use TLS",
      .where = "oci://" + reference_.authority() + "/" + reference_.name,
      .next = "configure the registry to redirect to an https address, or allow plain HTTP with `insecure: true`"};
}

// Follows redirects itself, because the Authorization header must not be sent to another host.
Result<HttpResponse> RegistryClient::send_once(HttpRequest request) {
  const std::vector<std::string> own_headers = request.headers;
  const bool transfers = request.sink || request.upload != nullptr;  // may take long, and continues while bytes arrive
  if (request.sink)
    request.sink = [this, sink = std::move(request.sink)](const HttpResponse& head, std::span<const std::byte> bytes) {
      answered_ = true;
      return sink(head, bytes);
    };
  const bool may_be_repeated =
      request.upload == nullptr;  // a streamed body cannot be sent again: its sender starts over
  bool renewed = false;
  for (int redirects = 0;;) {
    if (std::chrono::steady_clock::now() >= end_) return out_of_time(request.url, settings_.http.longest);
    const bool ours = origin_of_url(request.url) == origin_of_url(base_);
    const std::string authorization = ours ? authorizer_.header() : std::string();
    request.headers = own_headers;
    if (!authorization.empty()) request.headers.push_back(authorization);
    request.deadline = transfers ? end_ : deadline();
    SLIPWAY_TRY(response, http_->send(request));
    answered_ = true;
    show_warnings(response);
    if (is_redirect(response.status) && (request.method == "GET" || request.method == "HEAD")) {
      SLIPWAY_TRY(target, redirect_target(response, ++redirects));
      request.url = target;
      continue;
    }
    if (response.status != 401 || !ours) return std::move(response);
    if (renewed) return refusal(response, "use " + reference_.name + " of " + reference_.authority());
    SLIPWAY_CHECK(authorizer_.renew(response, authorization));
    if (!may_be_repeated) return std::move(response);
    renewed = true;
  }
}

Result<std::string> RegistryClient::redirect_target(const HttpResponse& response, int count) const {
  const std::string target = resolve_url(response.url, response.header("location"));
  if (target.empty() || count > kMaxRedirects)
    return Error{.code = ErrorCode::invalid,
                 .what = "registry " + reference_.authority() + " redirects slipway too often",
                 .where = origin_of_url(response.url),
                 .next = "tell the operator of the registry",
                 .details = {{"redirects", std::to_string(count)}}};
  SLIPWAY_CHECK(may_send(target));
  return target;
}

Result<HttpResponse> RegistryClient::send(const std::function<Result<HttpRequest>()>& make) {
  for (Retry attempts = retry();;) {
    SLIPWAY_TRY(request, make());
    auto response = send_once(std::move(request));
    if (!response) {
      if (is_worth_retrying(response.error()) && may_try_again(attempts)) continue;
      return after_attempts(std::move(response).error(), attempts);
    }
    if (!is_temporary(response->status) || !may_try_again(attempts, retry_after(*response))) return response;
  }
}

void RegistryClient::show_warnings(const HttpResponse& response) {
  const auto [begin, end] = response.headers.equal_range("warning");
  for (auto item = begin; item != end; ++item) {
    const std::string& text = item->second;
    const std::size_t first = text.find('"');
    if (!text.starts_with("299 ") || first == std::string::npos) continue;
    const std::string words = printable(text.substr(first + 1, text.rfind('"') - first - 1));
    const std::scoped_lock lock(warned_mutex_);
    if (warned_.insert(words).second) reporter_.warn("registry " + reference_.authority() + ": " + words);
  }
}

}  // namespace slipway::artifact
