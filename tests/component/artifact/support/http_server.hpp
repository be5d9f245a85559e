// SPDX-License-Identifier: Apache-2.0
// tests/component/artifact/support/http_server.hpp - an HTTP server on loopback that misbehaves as a test tells it to.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace slipway::artifact::test {

struct ServedRequest {
  std::string method;
  std::string target;                          ///< path and query
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct ServedResponse {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  /// Closes the connection after that many bytes of the body, although Content-Length is the full size.
  std::size_t cut_after = std::string::npos;
  bool hang = false;  ///< accept, and send nothing
  bool drip = false;  ///< send a byte of the body every 50 ms
};

/// Answers each connection in a thread of its own, one request per connection.
class HttpServer {
 public:
  using Handler = std::function<ServedResponse(const ServedRequest&)>;
  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + authority(); }

  /// The requests so far, in order.
  std::vector<ServedRequest> requests() const;
  /// Number of requests that match "METHOD target-prefix".
  int count(const std::string& method, const std::string& prefix) const;

 private:
  void accept_all();
  void serve(int connection);

  Handler handler_;
  int port_ = 0;  // before the listener, which fills it
  int listener_ = -1;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> accepts_ = false;  ///< the thread runs
  mutable std::mutex mutex_;
  std::vector<ServedRequest> requests_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

/// Returns a port of 127.0.0.1 without a listener at the moment.
int free_port();

}  // namespace slipway::artifact::test
