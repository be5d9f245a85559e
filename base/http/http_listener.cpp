// SPDX-License-Identifier: Apache-2.0
#include "base/http/http_listener.hpp"

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <slipway/fd.hpp>

#include "base/http/address.hpp"
#include "base/http/basic_auth.hpp"
#include "base/http/connections.hpp"
#include "base/http/web_config.hpp"

namespace slipway::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kIdleSeconds = 5;
constexpr int kTickMs = 250;                                    // while there are connections, which have a time limit
constexpr unsigned kRoom = 4 * HttpListener::kMostConnections;  // libmicrohttpd's own limit, closing ones included

using Headers = std::map<std::string, std::string>;

/// Holds a reference to the text while it is being sent.
MHD_Response* response_of(const HttpText& text) {
  auto kept = std::make_unique<HttpText>(text);
  MHD_Response* const response = MHD_create_response_from_buffer_with_free_callback_cls(
      text->size(), const_cast<char*>(text->data()), [](void* own) { delete static_cast<HttpText*>(own); }, kept.get());
  if (response != nullptr) (void)kept.release();  // freed with the response
  return response;
}

MHD_Result send(MHD_Connection* connection, unsigned status, const char* type, const HttpText& text,
                const Headers& headers) {
  MHD_Response* const response = response_of(text);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  for (const auto& [name, value] : headers) MHD_add_response_header(response, name.c_str(), value.c_str());
  if (status == MHD_HTTP_UNAUTHORIZED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"slipway\"");
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result send(MHD_Connection* connection, unsigned status, const char* type, const std::string& text,
                const Headers& headers) {
  return send(connection, status, type, std::make_shared<const std::string>(text), headers);
}

MHD_Result send_page(MHD_Connection* connection, const HttpPage& page, const Headers& headers) {
  if (!page.body)
    return send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain", "there is nothing to show yet\n", headers);
  MHD_Response* const response = response_of(page.body);
  if (response == nullptr) return MHD_NO;
  const std::string policy = page.policy.empty() ? "default-src 'none'; frame-ancestors 'none'" : page.policy;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{MHD_HTTP_HEADER_CONTENT_TYPE, page.type.c_str()},
                                                                  {MHD_HTTP_HEADER_CONNECTION, "close"},
                                                                  {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
                                                                  {"Content-Security-Policy", policy.c_str()},
                                                                  {"X-Content-Type-Options", "nosniff"},
                                                                  {"Referrer-Policy", "no-referrer"},
                                                                  {"Cross-Origin-Resource-Policy", "same-origin"}})
    MHD_add_response_header(response, name, value);
  for (const auto& [name, value] : headers) MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return queued;
}

class Microhttpd final : public HttpListener {
 public:
  Microhttpd(std::function<HttpText()> text, std::function<ServiceHealth()> health,
             std::function<HttpText()> openmetrics, HttpPages pages, WebConfig config, std::vector<std::string> names,
             std::shared_ptr<KnownClients> known)
      : text_(std::move(text)),
        health_(std::move(health)),
        openmetrics_(std::move(openmetrics)),
        pages_(std::move(pages)),
        config_(std::move(config)),
        names_(std::move(names)),
        auth_(config_.users, BasicAuth::bcrypt, std::move(known)) {}
  ~Microhttpd() override {
    thread_.request_stop();
    if (stopped_) (void)::eventfd_write(stopped_.get(), 1);
    if (thread_.joinable()) thread_.join();
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  }
  Microhttpd(const Microhttpd&) = delete;
  Microhttpd& operator=(const Microhttpd&) = delete;

  /// The daemon's own thread also ends connections, so that no lock is needed here.
  bool start(Fd listening) {
    stopped_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stopped_) return false;
    std::vector<MHD_OptionItem> options;
    if (!config_.key.empty()) {
      const char* const versions = config_.only_tls13   ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
                                   : config_.only_tls12 ? "NORMAL:-VERS-ALL:+VERS-TLS1.2"
                                                        : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
      options = {{MHD_OPTION_HTTPS_MEM_CERT, 0, config_.certificate.data()},
                 {MHD_OPTION_HTTPS_MEM_KEY, 0, config_.key.data()},
                 {MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(versions)}};
      if (!config_.client_ca.empty()) options.push_back({MHD_OPTION_HTTPS_MEM_TRUST, 0, config_.client_ca.data()});
    }
    options.push_back({MHD_OPTION_END, 0, nullptr});
    const unsigned flags = MHD_USE_EPOLL | (config_.key.empty() ? 0U : static_cast<unsigned>(MHD_USE_TLS));
    daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, answer, this, MHD_OPTION_LISTEN_SOCKET, listening.get(),
                               MHD_OPTION_NOTIFY_CONNECTION, notify, this, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
                               MHD_OPTION_CONNECTION_LIMIT, kRoom, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                               kMostRequestBytes, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
    if (daemon_ == nullptr) return false;
    sockaddr_in6 bound{};
    socklen_t length = sizeof bound;
    ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&bound), &length);
    port_ = ntohs(bound.sin6_port);  // at the same offset in an IPv4 address
    (void)listening.release();       // the daemon closes it
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (!has_clients()) wait_for_a_client();
        (void)MHD_run_wait(daemon_, has_clients() ? kTickMs : 0);
        connections_.close_expired(Clock::now());
      }
    });
    return true;
  }
  std::uint16_t port() const override { return port_; }
  bool files_changed() const override { return config_.changed(); }

 private:
  bool has_clients() const {
    const auto* const info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == nullptr || info->num_connections > 0;
  }

  /// Sleeps until a client connects or the listener stops.
  void wait_for_a_client() const {
    const auto* const info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD);
    pollfd wanted[]{{info == nullptr ? -1 : info->epoll_fd, POLLIN, 0}, {stopped_.get(), POLLIN, 0}};
    (void)::poll(wanted, std::size(wanted), info == nullptr ? kTickMs : -1);
  }

  static void notify(void* context, MHD_Connection* connection, void** own, MHD_ConnectionNotificationCode code) {
    auto& self = *static_cast<Microhttpd*>(context);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      self.connections_.remove(static_cast<const Connections::Connection*>(*own));
      return;
    }
    const auto* const socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (socket == nullptr) return;
    const auto* const address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *own = self.connections_.add(
        socket->connect_fd, peer_of_connection(socket->connect_fd, address == nullptr ? nullptr : address->client_addr),
        Clock::now());
  }

  /// Returns the connection's entry; null when libmicrohttpd has lost it.
  static Connections::Connection* taken_up(MHD_Connection* connection) {
    const auto* const own = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return own == nullptr ? nullptr : static_cast<Connections::Connection*>(own->socket_context);
  }

  /// True when the client has the required certificate.
  bool is_trusted(MHD_Connection* connection) const {
    if (config_.client_auth == ClientAuth::none) return true;
    const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == nullptr) return false;
    auto* const session = static_cast<gnutls_session_t>(info->tls_session);
    unsigned count = 0;
    if (gnutls_certificate_get_peers(session, &count) == nullptr || count == 0)
      return config_.client_auth == ClientAuth::if_given;
    gnutls_typed_vdata_st purpose{GNUTLS_DT_KEY_PURPOSE_OID,
                                  reinterpret_cast<unsigned char*>(const_cast<char*>(GNUTLS_KP_TLS_WWW_CLIENT)), 0};
    unsigned status = 0;
    return gnutls_certificate_verify_peers(session, &purpose, 1, &status) == GNUTLS_E_SUCCESS && status == 0;
  }

  BasicAuth::Answer allowed(MHD_Connection* connection, const std::string& peer) {
    if (!auth_.wanted()) return BasicAuth::Answer::right;
    char* password = nullptr;
    char* const user = MHD_basic_auth_get_username_password(connection, &password);
    auto answer = BasicAuth::Answer::wrong;
    if (user != nullptr && password != nullptr) answer = auth_.check(peer, user, password, Clock::now());
    if (user != nullptr) MHD_free(user);
    if (password != nullptr) MHD_free(password);
    return answer;
  }

  static MHD_Result answer(void* context, MHD_Connection* connection, const char* url, const char* method, const char*,
                           const char*, std::size_t* body, void**) {
    auto& self = *static_cast<Microhttpd*>(context);
    *body = 0;
    const auto send = [&](MHD_Connection* to, unsigned status, const char* type, const auto& text) {
      return base::send(to, status, type, text, self.config_.headers);
    };
    const char* const host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (host != nullptr && !is_own_name(host, self.names_))  // every browser sends it
      return send(connection, MHD_HTTP_MISDIRECTED_REQUEST, "text/plain",
                  "use an address or a host name of this machine; `host_names` in the spec allows more names\n");
    if (!self.is_trusted(connection))
      return send(connection, MHD_HTTP_FORBIDDEN, "text/plain", "a client certificate is required\n");
    auto* const client = taken_up(connection);
    const auto allowed = self.allowed(connection, client == nullptr ? std::string() : client->peer);
    if (allowed == BasicAuth::Answer::later)
      return send(connection, MHD_HTTP_TOO_MANY_REQUESTS, "text/plain", "too many wrong passwords: try again later\n");
    if (allowed == BasicAuth::Answer::wrong)
      return send(connection, MHD_HTTP_UNAUTHORIZED, "text/plain", "a user and a password are required\n");
    if (client != nullptr) client->asked = true;
    const bool reads = std::strcmp(method, "GET") == 0 || std::strcmp(method, "HEAD") == 0;
    if (!reads) return send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "only GET is supported\n");
    if (self.health_ && std::strcmp(url, "/health") == 0) {
      const ServiceHealth health = self.health_();
      return send(connection, health.well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
                  health.text);
    }
    if (const auto page = self.pages_ ? self.pages_(url) : std::nullopt)
      return send_page(connection, *page, self.config_.headers);
    if (std::strcmp(url, "/metrics") != 0) return send(connection, MHD_HTTP_NOT_FOUND, "text/plain", "see /metrics\n");
    const char* const accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    if (self.openmetrics_ && accept != nullptr && prefers_openmetrics(accept))
      return send(connection, MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8",
                  self.openmetrics_());
    return send(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", self.text_());
  }

  std::function<HttpText()> text_;
  std::function<ServiceHealth()> health_;
  std::function<HttpText()> openmetrics_;
  HttpPages pages_;
  WebConfig config_;
  std::vector<std::string> names_;
  BasicAuth auth_;
  Connections connections_{{kMostConnections, kMostOfAPeer, kLongest}, [](int fd) { ::shutdown(fd, SHUT_RDWR); }};
  MHD_Daemon* daemon_ = nullptr;
  Fd stopped_;  ///< readable when the thread has to end
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::start(const HttpSettings& settings, std::function<HttpText()> text,
                                                          std::function<ServiceHealth()> health,
                                                          std::function<HttpText()> openmetrics, HttpPages pages) {
  WebConfig config;
  if (!settings.web_config.empty()) {
    SLIPWAY_TRY(read, read_web_config(settings.web_config, settings.root));
    config = std::move(read);
  }
  const bool tls = !config.key.empty();
  SLIPWAY_TRY(listening, settings.socket < 0 ? listen_on(settings) : listening_copy(settings.socket));
  std::vector<std::string> names = own_names();
  names.insert(names.end(), settings.names.begin(), settings.names.end());
  auto listener = std::make_unique<Microhttpd>(std::move(text), std::move(health), std::move(openmetrics),
                                               std::move(pages), std::move(config), std::move(names), settings.known);
  if (listener->start(std::move(listening))) return std::unique_ptr<HttpListener>(std::move(listener));
  if (!tls) return Error{ErrorCode::internal, "the HTTP listener cannot be started", {}, {}, {}};
  return Error{ErrorCode::invalid,
               "the TLS certificate and key cannot be used",
               settings.web_config,
               "give both in PEM, and the key that belongs to the certificate: `openssl x509 -in CERT -noout "
               "-pubkey` and `openssl pkey -in KEY -pubout` then print the same public key",
               {}};
}

}  // namespace slipway::base
