// SPDX-License-Identifier: Apache-2.0
// core/service/quiesce_tracker.hpp - tracks the clients that have quiesced a service, and the requests that this needs.
#pragma once

#include <functional>
#include <set>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// A service is quiesced while at least one client holds it. The service gets one request at a time; waiting clients
/// are answered once the service is quiesced.
class QuiesceTracker {
 public:
  std::function<void(const char* op)> ask;                    ///< "service.quiesce" or "service.resume"
  std::function<void(int client, const Json& value)> answer;  ///< answers the client
  std::function<void(const Error& error)> failed;             ///< resuming failed

  void hold(int client);
  /// The client has released the service or disconnected.
  void release(int client);
  /// The service has answered the last request.
  void answered(const Status& status);
  /// The service takes too long: waiting clients get this error.
  void fail_waiting(const Error& error);

  bool asked() const { return asked_; }
  bool quiesced() const { return quiesced_; }
  /// True when no client holds the service and it is working.
  bool idle() const { return holders_.empty() && !quiesced_ && !asked_; }
  std::size_t holders() const { return holders_.size(); }

 private:
  void step();
  void refuse(const Error& error);

  std::set<int> holders_;
  std::set<int> waiting_;  ///< holders that have not been answered yet
  bool quiesced_ = false;
  bool asked_ = false;
  bool asked_to_quiesce_ = false;
};

}  // namespace slipway::core
