// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/client.hpp - a connection to a DCGM engine, and the values that it has of all GPUs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/engine/options.hpp"
#include "dcgm/sampler/sample.hpp"
#include "nvidia/nvml/call_thread.hpp"

namespace slipway::dcgm {

/// By the GPU's UUID and the field's number; a blank is no value.
using EngineReading = std::map<std::string, std::map<unsigned, Value>>;

/// Used by one thread. A call that takes longer than its limit is given up, with the connection: its thread stays
/// behind, and the next connection gets a new one.
class EngineClient {
 public:
  static constexpr std::chrono::milliseconds kCallLimit{5000};
  static constexpr std::chrono::milliseconds kConnectLimit{2000};

  EngineClient();
  ~EngineClient();
  EngineClient(const EngineClient&) = delete;
  EngineClient& operator=(const EngineClient&) = delete;

  /// Connects, and has the fields watched. What was connected before is released.
  /// Errors: those of DcgmLibrary::open(); `not_found` nobody answers there; `timed_out`; DCGM's own.
  Status connect(const std::string& root, const EngineAddress& address, const std::vector<unsigned>& fields,
                 std::chrono::milliseconds interval);
  bool connected() const { return session_ != nullptr; }
  /// The newest values of all GPUs. An error ends the connection. Errors: `timed_out`, DCGM's own.
  Result<EngineReading> read();
  void release();

 private:
  struct Session;  // what caller and calls share
  void end(std::shared_ptr<Session> session);

  std::shared_ptr<Session> session_;
  nvidia::nvml::CallThread thread_;
};

}  // namespace slipway::dcgm
