// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/link.hpp - keeps the plugin registered with the engine behind a socket, even when the engine
// restarts.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include <slipway/host.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/service.hpp>

#include "toolkit/nri/session.hpp"

namespace slipway::nri {

class Link {
 public:
  /// @param socket  path on the host
  Link(const Host& host, ServiceIo& io, std::string socket, Adjust adjust)
      : host_(host), io_(io), socket_(std::move(socket)), adjust_(std::move(adjust)) {}

  /// Runs until a stop is requested. Calls ready() as soon as the engine has accepted or refused the plugin, and
  /// status() at every change. Errors: no descriptor left.
  Status run(const std::stop_token& stop);

 private:
  Status serve();
  Status move_bytes(const Fd& end, Session& session, std::string& unsent) const;
  bool wait(int fd, int events, std::chrono::milliseconds limit);
  void tell(const char* level, const std::string& line);

  const Host& host_;
  ServiceIo& io_;
  std::string socket_;
  Adjust adjust_;
  Fd wake_;
  bool stopped_ = false;
  bool served_ = false;  ///< the last connection was accepted
  bool reported_ready_ = false;
  std::string told_;
  std::chrono::steady_clock::time_point alive_said_;
};

}  // namespace slipway::nri
