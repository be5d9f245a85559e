// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/connection.hpp - the worker's end of the connection to slipway.
#pragma once

#include <cstdint>
#include <mutex>

#include <slipway/abi.h>

#include <slipway/json.hpp>
#include <slipway/root_dir.hpp>

#include "core/worker/frame.hpp"

namespace slipway::core {

/// Sends and receives frames, blocking. Ends the process when slipway has ended or broken the protocol.
class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}

  /// Thread-safe. A message that is too long is replaced by a reply with an error.
  void send(const Json& message);
  Json receive();

 private:
  void write_all(const std::string& bytes);
  int descriptor_;
  std::mutex sending_;
  FrameReader reader_;
};

/// The `slipway_services` that the plugin gets: its calls become frames.
class WorkerServices {
 public:
  explicit WorkerServices(Connection& connection);

  const slipway_services* table() const { return &table_; }
  /// Requests to the core are possible only while the worker answers a call from slipway.
  void set_in_call(bool in_call);

 private:
  static int entry(void* context, const char* op, const char* json, std::size_t length, const slipway_reply* reply);
  int call(const std::string& op, const Json& message, const slipway_reply& reply);
  int ask_core(const Json& message, const slipway_reply& reply);
  bool worth_telling(const Json& progress);

  Connection& connection_;
  slipway_services table_{};
  std::mutex asking_;
  bool in_call_ = false;
  std::uint64_t asked_ = 0;
  std::mutex telling_;
  std::string last_label_;
  std::int64_t last_told_ms_ = 0;
};

}  // namespace slipway::core
