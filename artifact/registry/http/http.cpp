// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/http/http.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <curl/curl.h>

#include <slipway/text.hpp>

#include "artifact/io/file.hpp"
#include "artifact/registry/http/reference.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kMaxHeaderBytes = 256UL << 10;
constexpr std::uint64_t kMaxCaBytes = 16UL << 20;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

/// The state of one exchange, for its callbacks.
struct Exchange {
  const HttpRequest& request;
  HttpResponse response;
  std::uint64_t max_body_bytes;
  std::size_t header_bytes = 0;
  std::optional<Error> error;

  bool streams() const { return request.sink && (response.status == 200 || response.status == 206); }
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  const std::string_view line(data, size);
  exchange.header_bytes += size;
  if (exchange.header_bytes > kMaxHeaderBytes) return 0;
  if (line.starts_with("HTTP/")) {  // a new answer begins: the one before was "100 Continue" or similar
    exchange.response.headers.clear();
    const std::size_t space = line.find(' ');
    exchange.response.status =
        space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space + 1)).c_str());
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(trimmed(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  exchange.response.headers.emplace(std::move(name), trimmed(line.substr(colon + 1)));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  if (exchange.streams()) {
    Status taken = exchange.request.sink(exchange.response, std::as_bytes(std::span(data, size)));
    if (taken) return size;
    exchange.error = std::move(taken).error();
    return 0;
  }
  if (exchange.response.body.size() + size > exchange.max_body_bytes) {
    exchange.error = Error{.code = ErrorCode::invalid,
                           .what = "the answer of " + exchange.request.url + " is longer than " +
                                   std::to_string(exchange.max_body_bytes - 1) + " bytes",
                           .where = exchange.request.url};
    return 0;
  }
  exchange.response.body.append(data, size);
  return size;
}

std::size_t on_upload(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  auto count = exchange.request.upload->read(std::as_writable_bytes(std::span(data, size)));
  if (count) return *count;
  exchange.error = std::move(count).error();
  return CURL_READFUNC_ABORT;
}

/// Returns the system's CAs with the private one: libcurl would otherwise use only one of them.
Result<std::string> ca_bundle_with(const std::string& ca_file) {
  auto own = read_regular(ca_file, kMaxCaBytes);
  if (!own) {
    Error error = std::move(own).error();
    error.next = "set `ca` to a PEM file with the registry's CA";
    return error;
  }
  if (own->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
    return Error{.code = ErrorCode::invalid,
                 .what = ca_file + " holds no certificate in PEM form",
                 .where = "ca",
                 .next = "convert it with `openssl x509 -inform DER -in FILE -out FILE.pem`"};
  const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
  const std::string system = version->cainfo != nullptr ? version->cainfo : "";
  const auto known = system.empty() ? Result<std::string>(std::string()) : read_regular(system, kMaxCaBytes);
  return known.value_or("") + "\n" + *own;
}

/// Returns the time until the limit or the request's deadline, at least 1, since 0 means no limit, and at most
/// libcurl's maximum.
long milliseconds_for(const HttpRequest& request, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(24 * 8);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(request.deadline - std::chrono::steady_clock::now());
  return static_cast<long>(std::clamp<std::int64_t>(std::min({limit, left, kMost}).count(), 1, kMost.count()));
}

std::string url_part(const std::string& url, CURLUPart part, unsigned flags) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  char* text = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK)
    return {};
  std::string value = text;
  curl_free(text);
  return value;
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = curl_easy_init();
  std::array<char, CURL_ERROR_SIZE> message{};

  Handle() = default;
  ~Handle() { curl_easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  template <class T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(curl, option, value);
  }

  void prepare(Exchange& exchange, const HttpSettings& settings, const std::string& ca_bundle) {
    const HttpRequest& request = exchange.request;
    curl_easy_reset(curl);  // keeps connections
    message[0] = '\0';
    set(CURLOPT_ERRORBUFFER, message.data());
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_USERAGENT, "slipway");
    set(CURLOPT_BUFFERSIZE, 128L << 10);
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings.connect_timeout.count()));
    set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(settings.slowest_bytes));
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings.stall_timeout.count()));
    const std::uint64_t bytes = request.upload_size + (request.sink ? request.expected_bytes : settings.max_body_bytes);
    set(CURLOPT_TIMEOUT_MS, milliseconds_for(request, time_for(settings, bytes)));
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, &exchange);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &exchange);
    if (is_loopback_host(host_of_url(request.url))) set(CURLOPT_PROXY, "");
    if (!ca_bundle.empty()) {
      curl_blob blob{const_cast<char*>(ca_bundle.data()), ca_bundle.size(), CURL_BLOB_NOCOPY};
      set(CURLOPT_CAINFO_BLOB, &blob);
    } else if (const std::string file = system_ca_file("/"); !file.empty()) {
      set(CURLOPT_CAINFO, file.c_str());
    }
    set_method(exchange);
  }

  /// Returns "1200 bytes in 31 s (38 bytes/s)" for the last transfer; empty when no byte was transferred.
  std::string rate() const {
    curl_off_t down = 0;
    curl_off_t up = 0;
    curl_off_t microseconds = 0;
    curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &down);
    curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &up);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &microseconds);
    const curl_off_t seconds = std::max<curl_off_t>(microseconds / 1'000'000, 1);
    if (down + up == 0) return {};
    return std::to_string(down + up) + " bytes in " + std::to_string(seconds) + " s (" +
           std::to_string((down + up) / seconds) + " bytes/s), which is too slow";
  }

  void set_method(Exchange& exchange) {
    const HttpRequest& request = exchange.request;
    if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (request.upload != nullptr) {
      set(CURLOPT_UPLOAD, 1L);
      set(CURLOPT_READFUNCTION, on_upload);
      set(CURLOPT_READDATA, &exchange);
      set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.upload_size));
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else if (request.method != "GET") {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.c_str());
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }
};

std::chrono::seconds time_for(const HttpSettings& settings, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{7} * 24 * 3600;  // a manifest may declare any size
  return settings.grace + std::chrono::seconds(std::min(bytes / settings.average_bytes, kMost));
}

HttpClient::HttpClient(const HttpSettings& settings, std::string ca_bundle)
    : settings_(settings), ca_bundle_(std::move(ca_bundle)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::create(const HttpSettings& settings) {
  static std::once_flag once;
  std::call_once(once, [] {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL, and libcurl leaves SIGPIPE to us
  });
  std::string bundle;
  if (!settings.ca_file.empty()) {
    SLIPWAY_TRY(text, ca_bundle_with(settings.ca_file));
    bundle = std::move(text);
  }
  return std::unique_ptr<HttpClient>(new HttpClient(settings, std::move(bundle)));
}

std::unique_ptr<HttpClient::Handle> HttpClient::take() {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) return std::make_unique<Handle>();
  auto handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

void HttpClient::give_back(std::unique_ptr<Handle> handle) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(handle));
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request) {
  auto handle = take();
  Exchange exchange{.request = request, .response = {}, .max_body_bytes = settings_.max_body_bytes, .error = {}};
  exchange.response.url = request.url;
  handle->prepare(exchange, settings_, ca_bundle_);
  curl_slist* raw = curl_slist_append(nullptr, "Expect:");  // does not wait for "100 Continue" before an upload
  for (const std::string& header : request.headers) raw = curl_slist_append(raw, header.c_str());
  const std::unique_ptr<curl_slist, FreeList> headers(raw);
  handle->set(CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(handle->curl);
  const std::string message = handle->message.data();
  long os_error = 0;
  curl_easy_getinfo(handle->curl, CURLINFO_OS_ERRNO, &os_error);
  const std::string rate = code == CURLE_OPERATION_TIMEDOUT ? handle->rate() : std::string();
  handle->set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  give_back(std::move(handle));
  if (exchange.error) return std::move(*exchange.error);
  if (code == CURLE_OK) return std::move(exchange.response);
  Error error = transport_error(request.url, static_cast<int>(code), message, static_cast<int>(os_error));
  if (!rate.empty()) error.details.emplace_back("rate", rate);
  return error;
}

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::string resolve_url(const std::string& base, const std::string& reference) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  char* text = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(parsed.get(), CURLUPART_URL, reference.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), CURLUPART_URL, &text, 0) != CURLUE_OK)
    return {};
  std::string url = text;
  curl_free(text);
  return url.starts_with("http://") || url.starts_with("https://") ? url : std::string();
}

std::string origin_of_url(const std::string& url) {
  const std::string host = host_of_url(url);
  if (host.empty()) return {};
  return url_part(url, CURLUPART_SCHEME, 0) + "://" + host + ":" + url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

std::string host_of_url(const std::string& url) { return url_part(url, CURLUPART_HOST, 0); }

std::string percent_encoded(const std::string& text) {
  char* raw = curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size()));
  std::string encoded = raw != nullptr ? raw : "";
  curl_free(raw);
  return encoded;
}

}  // namespace slipway::artifact
