// SPDX-License-Identifier: Apache-2.0
#include "tests/component/artifact/support/http_server.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slipway::artifact::test {
namespace {

int listen_on_loopback(int& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 64) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no port on loopback");
  port = ntohs(address.sin_port);
  return listener;
}

void send_all(int connection, const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

/// Reads until `text` has `size` bytes; false when the connection ends before.
bool read_to(int connection, std::string& text, std::size_t size) {
  std::array<char, 65536> buffer{};
  while (text.size() < size) {
    const ssize_t count = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

bool read_request(int connection, ServedRequest& request) {
  std::string text;
  while (text.find("\r\n\r\n") == std::string::npos) {
    if (!read_to(connection, text, text.size() + 1)) return false;
    if (std::isupper(static_cast<unsigned char>(text[0])) != 0) continue;
    send_all(connection, "HTTP/1.1 400 Bad Request\r\n\r\n");  // TLS, as real servers answer it
    return false;
  }
  const std::size_t end = text.find("\r\n\r\n");
  std::istringstream head(text.substr(0, end));
  std::string line;
  head >> request.method >> request.target;
  std::getline(head, line);
  while (std::getline(head, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    request.headers[name] = line.substr(colon + 2, line.find_last_not_of("\r\n") - colon - 1);
  }
  request.body = text.substr(end + 4);
  const std::string length = request.header("content-length");
  return length.empty() || read_to(connection, request.body, std::stoul(length));
}

std::string head_of(const ServedResponse& response) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " Answer\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  if (!response.headers.contains("Content-Length"))
    head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  return head + "Connection: close\r\n\r\n";
}

}  // namespace

HttpServer::HttpServer(Handler handler)
    : handler_(std::move(handler)), listener_(listen_on_loopback(port_)), acceptor_([this] { accept_all(); }) {
  // A test may fork next. A thread that is just starting may hold the allocator's lock, which the child would keep.
  accepts_.wait(false);
}

HttpServer::~HttpServer() {
  stop_ = true;
  acceptor_.join();
  ::close(listener_);
  for (std::thread& connection : connections_) connection.join();
}

void HttpServer::accept_all() {
  accepts_ = true;
  accepts_.notify_one();
  while (!stop_) {
    pollfd watched{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, 20) <= 0) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    connections_.emplace_back([this, connection] {
      serve(connection);
      ::shutdown(connection, SHUT_RDWR);
      ::close(connection);
    });
  }
}

void HttpServer::serve(int connection) {
  ServedRequest request;
  if (!read_request(connection, request)) return;
  {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
  }
  const ServedResponse response = handler_(request);
  while (response.hang && !stop_) ::usleep(10'000);
  if (response.hang) return;
  std::string body = request.method == "HEAD" ? "" : response.body;
  body.resize(std::min(body.size(), response.cut_after));
  send_all(connection, head_of(response) + (response.drip ? "" : body));
  for (std::size_t i = 0; response.drip && i < body.size() && !stop_; ++i) {
    send_all(connection, body.substr(i, 1));
    ::usleep(50'000);
  }
}

std::vector<ServedRequest> HttpServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

int HttpServer::count(const std::string& method, const std::string& prefix) const {
  const auto all = requests();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const ServedRequest& request) {
    return request.method == method && request.target.starts_with(prefix);
  }));
}

int free_port() {
  int port = 0;
  ::close(listen_on_loopback(port));
  return port;
}

}  // namespace slipway::artifact::test
