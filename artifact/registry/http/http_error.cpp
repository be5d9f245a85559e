// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>

#include <curl/curl.h>

#include <slipway/text.hpp>

#include "artifact/io/entry_rules.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/registry/http/http.hpp"
#include "artifact/registry/http/reference.hpp"

namespace slipway::artifact {
namespace {

/// Returns "https://registry:5000" without path and query, which may contain a signature.
std::string server_of(const std::string& url) {
  const std::string server = origin_of_url(url);
  return server.empty() ? url : server;
}

/// Returns the proxy variable for the URL, "https_proxy=http://proxy:3128" without a password; or nothing.
std::string proxy_for(const std::string& url) {
  if (is_loopback_host(host_of_url(url))) return {};
  const bool tls = url.starts_with("https:");
  // The same as in libcurl: HTTP_PROXY in capitals is ignored.
  for (const char* name : {tls ? "https_proxy" : "http_proxy", tls ? "HTTPS_PROXY" : "", "all_proxy", "ALL_PROXY"}) {
    const char* value = *name != '\0' ? std::getenv(name) : nullptr;
    if (value == nullptr || *value == '\0') continue;
    std::string proxy = value;
    const std::size_t at = proxy.rfind('@');
    const std::size_t scheme = proxy.find("://");
    if (at != std::string::npos)
      proxy.erase(scheme == std::string::npos ? 0 : scheme + 3,
                  at + 1 - (scheme == std::string::npos ? 0 : scheme + 3));
    return std::string(name) + "=" + proxy;
  }
  return {};
}

struct Reading {
  ErrorCode code;
  std::string why;
  std::string next;
};

// Problems that another attempt a moment later does not solve.
constexpr const char* kNoName = "its name does not resolve (DNS)";
constexpr const char* kNoProxyName = "the proxy's name does not resolve (DNS)";
constexpr const char* kOutOfTime = "it is too slow: the time for the whole transfer is over";
constexpr const char* kRefused = "the connection was refused: no process listens there";

Reading read_code(int code, int os_error) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {ErrorCode::unreachable, kNoName, "check the host name in `repository`, and this machine's DNS"};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {ErrorCode::unreachable, kNoProxyName, "check the proxy variables"};
    case CURLE_COULDNT_CONNECT:
      if (os_error == ECONNREFUSED)
        return {ErrorCode::unreachable, kRefused, "check host and port, and that the registry runs"};
      return {ErrorCode::unreachable, "no connection",
              "check host and port, that the registry runs, and the network on the way to it"};
    case CURLE_OPERATION_TIMEDOUT:
      return {ErrorCode::timed_out, "it did not answer in time",
              "check the network on the way to the registry (firewall, proxy), then try again"};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {ErrorCode::denied, "its TLS certificate is not trusted",
              "set `ca` to the PEM file of the CA that signed the certificate, and use the host name that the "
              "certificate was issued for"};
    case CURLE_SSL_CACERT_BADFILE:  // counts as "no TLS": a registry on loopback is then contacted without TLS
      return {ErrorCode::unsupported, "this machine has no CA certificates",
              "install ca-certificates, or set `ca` to the PEM file of the CA that signed the registry's certificate"};
    case CURLE_SSL_CONNECT_ERROR:
      return {ErrorCode::unsupported, "no TLS connection", "a registry without TLS needs `insecure: true`"};
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return {ErrorCode::unreachable, "the connection broke", "try again"};
    default:
      return {ErrorCode::unreachable, "the transfer failed", "try again"};
  }
}

ErrorCode code_of_status(int status) {
  if (status == 401 || status == 403) return ErrorCode::denied;
  if (status == 404) return ErrorCode::not_found;
  if (status == 408 || status == 429 || status >= 500) return ErrorCode::unreachable;
  return ErrorCode::invalid;
}

std::string advice_for_status(int status) {
  switch (status) {
    case 401:
      return "log in (`docker login` or `skopeo login`), or set `auth` to a config.json with this registry";
    case 403:
      return "ask the registry's owner for access, or log in as a user who has it";
    case 404:
      return "check the repository's name";
    case 429:
      return "wait, or log in: registries allow more requests to users who are logged in";
    default:
      return status >= 500 ? "try again later: the registry has a problem" : "";
  }
}

/// Returns the registry's own message: "CODE: message" of each error in its answer.
std::string own_words(const HttpResponse& response) {
  const auto body = parse_json(response.body, "the answer");
  const auto shown = [](const Json& item) { return text_at(item, "code") + ": " + text_at(item, "message"); };
  return body ? printable(joined(array_at(*body, "errors"), "\n", shown)) : std::string();
}

}  // namespace

Error transport_error(const std::string& url, int code, const std::string& message, int os_error) {
  const Reading reading = read_code(code, os_error);
  Error error{.code = reading.code,
              .what = server_of(url) + " cannot be reached: " + reading.why,
              .where = server_of(url),
              .next = reading.next};
  error.details.emplace_back("cause", message.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : message);
  if (const std::string proxy = proxy_for(url); !proxy.empty()) error.details.emplace_back("proxy", proxy);
  return error;
}

Error out_of_time(const std::string& url, std::chrono::seconds limit) {
  return {.code = ErrorCode::timed_out,
          .what = server_of(url) + " cannot be used: " + kOutOfTime,
          .where = server_of(url),
          .next =
              "check the network on the way to the registry, then run the same command again: it continues after the "
              "received bytes",
          .details = {{"limit", std::to_string(limit.count()) + " s"}}};
}

bool is_worth_retrying(const Error& error) {
  for (const char* lasting : {kNoName, kNoProxyName, kRefused, kOutOfTime})
    if (error.what.ends_with(lasting)) return false;
  return error.code == ErrorCode::unreachable || error.code == ErrorCode::timed_out;
}

Error refusal(const HttpResponse& response, const std::string& doing) {
  Error error{
      .code = code_of_status(response.status),
      .what = "cannot " + doing + ": " + server_of(response.url) + " answers " + std::to_string(response.status),
      .where = server_of(response.url),
      .next = advice_for_status(response.status)};
  if (const std::string words = own_words(response); !words.empty()) error.details.emplace_back("says", words);
  return error;
}

}  // namespace slipway::artifact
