// SPDX-License-Identifier: Apache-2.0
#include "validator/service/http_server.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <slipway/root_dir.hpp>

namespace slipway::validator {
namespace {

constexpr unsigned kTimeoutSeconds = 5;
constexpr unsigned kConnections = 32;

MHD_Result send(MHD_Connection* connection, unsigned status, const std::string& type, const std::string& text) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result answer(void* context, MHD_Connection* connection, const char* url, const char* method, const char*,
                  const char*, std::size_t* body, void**) {
  *body = 0;
  const bool reads = std::strcmp(method, "GET") == 0 || std::strcmp(method, "HEAD") == 0;
  if (!reads) return send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "only GET is answered\n");
  if (std::strcmp(url, "/metrics") != 0) return send(connection, MHD_HTTP_NOT_FOUND, "text/plain", "see /metrics\n");
  const auto& text = *static_cast<const std::function<std::string()>*>(context);
  return send(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text());
}

/// Both protocols when no address is named.
Result<Fd> listen_on(const std::string& address, std::uint16_t port) {
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6;
  six.sin6_port = four.sin_port = htons(port);
  four.sin_family = AF_INET;
  const bool is_four = ::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1;
  if (!address.empty() && !is_four && ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) != 1)
    return Error{ErrorCode::invalid, "'" + address + "' is no IP address", "spec.components.validator.address", {}, {}};
  Fd fd(is_four ? -1 : ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_six = static_cast<bool>(fd);
  if (!is_six) fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // a machine without IPv6
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (is_six && address.empty()) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  const auto* const where = is_six ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
  const auto length = static_cast<socklen_t>(is_six ? sizeof six : sizeof four);
  const std::string name = (address.empty() ? "port " : address + ":") + std::to_string(port);
  if (::bind(fd.get(), where, length) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) return fd;
  Error error = system_error("listen on", name, errno);
  error.next = "end what has that port (`ss -ltnp`), or choose another one (validator.port)";
  return error;
}

class Microhttpd final : public HttpServer {
 public:
  explicit Microhttpd(std::function<std::string()> text) : text_(std::move(text)) {}
  ~Microhttpd() override {
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  }
  Microhttpd(const Microhttpd&) = delete;
  Microhttpd& operator=(const Microhttpd&) = delete;

  bool start(Fd listening) {
    daemon_ = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, nullptr, nullptr, answer, &text_,
                               MHD_OPTION_LISTEN_SOCKET, listening.get(), MHD_OPTION_CONNECTION_TIMEOUT,
                               kTimeoutSeconds, MHD_OPTION_CONNECTION_LIMIT, kConnections, MHD_OPTION_END);
    if (daemon_ == nullptr) return false;
    sockaddr_in6 bound{};
    socklen_t length = sizeof bound;
    ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&bound), &length);
    port_ = ntohs(bound.sin6_port);  // at the same place as in an IPv4 address
    (void)listening.release();       // the daemon closes it
    return true;
  }
  std::uint16_t port() const override { return port_; }

 private:
  std::function<std::string()> text_;
  MHD_Daemon* daemon_ = nullptr;
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, std::uint16_t port,
                                                      std::function<std::string()> text) {
  SLIPWAY_TRY(listening, listen_on(address, port));
  auto server = std::make_unique<Microhttpd>(std::move(text));
  if (!server->start(std::move(listening)))
    return Error{ErrorCode::internal, "the HTTP server cannot be started", {}, {}, {}};
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace slipway::validator
