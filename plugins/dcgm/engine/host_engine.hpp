// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/host_engine.hpp - nv-hostengine as a child of the service: started, watched, ended with it.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>

#include <slipway/result.hpp>

#include "dcgm/engine/options.hpp"

namespace slipway::dcgm {

/// Where it is looked for, in the host's root.
inline constexpr std::array kHostEnginePrograms{"/usr/bin/nv-hostengine", "/usr/local/bin/nv-hostengine"};

/// Used by one thread.
class HostEngine {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kShortestWait{1};  ///< before it is started again
  static constexpr std::chrono::seconds kLongestWait{60};
  static constexpr std::chrono::seconds kProven{60};  ///< it ran so long: the next wait is the shortest one again

  /// @param root  folder that is "/" of the host
  /// @param programs  the folder below which the program is; for "/" the variable PATH counts as well
  HostEngine(std::string root, std::string programs, Log log)
      : root_(std::move(root)), programs_(std::move(programs)), log_(std::move(log)) {}
  ~HostEngine() { stop(); }
  HostEngine(const HostEngine&) = delete;
  HostEngine& operator=(const HostEngine&) = delete;

  /// Where it listens: a socket below the host's /run/slipway, and no port.
  EngineAddress address() const;
  /// Starts it unless it runs, or ended a short while ago: each time that it ends by itself doubles the wait.
  /// Errors: `not_found` it is not installed; `busy` it ended and is waited for, with how; system errors.
  Status keep_running(Clock::time_point now);
  /// SIGTERM, and SIGKILL 5 s later.
  void stop();
  bool runs() const { return pid_ > 0; }

 private:
  std::string program() const;
  Status start(Clock::time_point now);
  void take_end(Clock::time_point now);

  std::string root_;
  std::string programs_;
  Log log_;
  pid_t pid_ = -1;
  Clock::time_point started_;
  Clock::time_point not_before_;
  Clock::duration wait_ = kShortestWait;
  std::string ending_;
};

}  // namespace slipway::dcgm
