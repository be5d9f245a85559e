// SPDX-License-Identifier: Apache-2.0
// core/service/quieting.hpp - who holds a service quiet, and what that asks of it next.
#pragma once

#include <functional>
#include <set>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// A service is quiet while somebody holds it so. One question to it at a time; who waits is answered when it is quiet.
class Quieting {
 public:
  std::function<void(const char* op)> ask;                    ///< "service.quiesce" or "service.resume"
  std::function<void(int client, const Json& value)> answer;  ///< to who asked
  std::function<void(const Error& error)> failed;             ///< it could not be resumed

  void hold(int client);
  /// The client wants no more quiet, or is gone.
  void release(int client);
  /// The service answered what it was asked last.
  void answered(const Status& status);
  /// It takes too long: who waits is told so.
  void gave_up(const Error& error);

  bool asked() const { return asked_; }
  bool quiet() const { return quiet_; }
  /// Nobody holds it, and it works.
  bool idle() const { return holders_.empty() && !quiet_ && !asked_; }
  std::size_t holders() const { return holders_.size(); }

 private:
  void step();
  void refuse(const Error& error);

  std::set<int> holders_;
  std::set<int> waiting_;  ///< holders that were not answered yet
  bool quiet_ = false;
  bool asked_ = false;
  bool asked_for_quiet_ = false;
};

}  // namespace slipway::core
