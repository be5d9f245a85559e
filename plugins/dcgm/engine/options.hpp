// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/options.hpp - which engine of DCGM's is asked, and where it is.
#pragma once

#include <chrono>
#include <string>

#include <slipway/result.hpp>

namespace slipway::dcgm {

struct EngineAddress {
  std::string text;             ///< a path, or host:port, as dcgmConnect_v2() takes it
  bool is_unix_socket = false;  ///< the text is a path
};

/// Reads "host", "host:port", "[v6]:port", "tcp://host:port" and "unix:///path", as dcgm-exporter's
/// --remote-hostengine-info. Without a port it is 5555. Errors: `invalid`.
Result<EngineAddress> read_engine_address(const std::string& text);

struct EngineOptions {
  bool managed = false;        ///< nv-hostengine is a child; else it is at `address`
  EngineAddress address;       ///< where it is otherwise
  std::string root = "/";      ///< the host's, whose /run has the engine's socket
  std::string programs = "/";  ///< the root that library and program are taken from: never one that is not running
  std::chrono::milliseconds interval{10000};
};

}  // namespace slipway::dcgm
