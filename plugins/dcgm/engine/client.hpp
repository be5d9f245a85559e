// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/client.hpp - a connection to a DCGM engine, and the values that it has.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/engine/options.hpp"
#include "dcgm/engine/session.hpp"
#include "nvidia/nvml/call_thread.hpp"

namespace slipway::dcgm {

/// Used by one thread. A call that takes longer than its limit is given up, with the connection: its thread stays
/// behind, and the next connection gets a new one.
class EngineClient {
 public:
  static constexpr std::chrono::milliseconds kCallLimit{5000};

  EngineClient();
  ~EngineClient();
  EngineClient(const EngineClient&) = delete;
  EngineClient& operator=(const EngineClient&) = delete;

  /// Connects, and has the fields watched. What was connected before is released.
  /// Errors: those of DcgmLibrary::open(); `not_found` nobody answers there; `timed_out`; DCGM's own.
  Status connect(const std::string& root, const EngineAddress& address, const std::vector<unsigned>& fields,
                 std::chrono::milliseconds interval);
  bool connected() const { return session_ != nullptr; }
  /// The newest values. An error ends the connection. Errors: `timed_out`, DCGM's own.
  Result<EngineReading> read();
  /// As EngineSession::missing(), of the last read.
  std::string missing() const;
  void release();

 private:
  void end(std::shared_ptr<EngineSession> session);

  std::shared_ptr<EngineSession> session_;  ///< shared with the calls
  nvidia::nvml::CallThread thread_;
};

}  // namespace slipway::dcgm
