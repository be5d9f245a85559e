// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/client.hpp - a connection to a DCGM engine, and its values.
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

/// Used by one thread. A call that exceeds its limit is abandoned together with its thread and the connection; the next
/// connection uses a new thread.
class EngineClient {
 public:
  static constexpr std::chrono::milliseconds kCallLimit{5000};

  EngineClient();
  ~EngineClient();
  EngineClient(const EngineClient&) = delete;
  EngineClient& operator=(const EngineClient&) = delete;

  /// Connects and starts watching the fields. Releases a previous connection. Errors: those of DcgmLibrary::open();
  /// `not_found` no engine answers at the address; `timed_out`; DCGM's own.
  Status connect(const std::string& root, const EngineAddress& address, const std::vector<unsigned>& fields,
                 std::chrono::milliseconds interval);
  bool connected() const { return session_ != nullptr; }
  /// Returns the newest values. After an error the connection is closed. Errors: `timed_out`, DCGM's own.
  Result<EngineReading> read();
  /// Like EngineSession::missing(), for the last read.
  std::string missing() const;
  void release();

 private:
  void end(std::shared_ptr<EngineSession> session);

  std::shared_ptr<EngineSession> session_;  ///< shared with calls in progress
  nvidia::nvml::CallThread thread_;
};

}  // namespace slipway::dcgm
