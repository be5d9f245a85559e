// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/http_server.hpp - answers GET /metrics, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <slipway/result.hpp>

namespace slipway::validator {

class HttpServer {
 public:
  /// @param address  IPv4 or IPv6; empty: all of this machine. @param port  0: one that is free
  /// @param text     called for each request, from the server's thread
  /// Errors: `busy` the port is taken; `invalid` the address is none.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, std::uint16_t port,
                                                   std::function<std::string()> text);
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace slipway::validator
