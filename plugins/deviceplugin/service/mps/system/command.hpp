// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/system/command.hpp - starts programs of the driver and of systemd, and runs them to
// their end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/process/child_process.hpp>
#include <slipway/result.hpp>

namespace slipway::deviceplugin {

inline constexpr std::size_t kMostAnswerBytes = 64 << 10;  ///< a list of servers or clients has a number for each

/// The time that the commands of one turn may take together: the service notifies the watchdog only between turns.
class MpsBudget {
 public:
  using Clock = std::chrono::steady_clock;
  explicit MpsBudget(std::chrono::milliseconds limit) : end_(Clock::now() + limit) {}
  bool spent() const { return left().count() == 0; }
  std::chrono::milliseconds left() const { return time_left(end_); }

 private:
  Clock::time_point end_;
};

struct CommandOutput {
  bool ended = false;  ///< it ended in time, with output within the limit
  int status = -1;     ///< 0 to 255; from 128 on: a signal
  std::string text;    ///< both streams, one after the other
};

/// Starts a program in a session of its own. @param output  a descriptor for both streams, or kDevNull. Errors: system
/// errors.
Result<pid_t> start_command(std::vector<std::string> argv, std::vector<std::string> environment, int output);

/// Runs a program to its end, or kills it at the limit. The input has to fit into a pipe. Errors: system errors.
Result<CommandOutput> run_command(std::vector<std::string> argv, std::vector<std::string> environment,
                                  const std::string& input, std::chrono::milliseconds limit);

}  // namespace slipway::deviceplugin
