// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/options.hpp - the choice of the DCGM engine, and its address.
#pragma once

#include <chrono>
#include <string>

#include <slipway/result.hpp>

namespace slipway::dcgm {

struct EngineAddress {
  std::string text;             ///< a path, or host:port, in the form that dcgmConnect_v2() takes
  bool is_unix_socket = false;  ///< the text is a socket path
};

/// Reads "host", "host:port", "[v6]:port", "tcp://host:port" and "unix:///path", as dcgm-exporter's
/// --remote-hostengine-info does. The default port is 5555. Errors: `invalid`.
Result<EngineAddress> read_engine_address(const std::string& text);

struct EngineOptions {
  bool managed = false;        ///< nv-hostengine runs as a child; else it listens at `address`
  EngineAddress address;       ///< address of an engine that is not a child
  std::string root = "/";      ///< the host's root, whose /run holds the engine's socket
  std::string programs = "/";  ///< the root that library and program are loaded from; always that of the running system
  std::chrono::milliseconds interval{10000};
};

}  // namespace slipway::dcgm
