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

/// Paths where the program is looked for, below the host's root.
inline constexpr std::array kHostEnginePrograms{"/usr/bin/nv-hostengine", "/usr/local/bin/nv-hostengine"};

/// Used by one thread.
class HostEngine {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kShortestWait{1};  ///< before it is started again
  static constexpr std::chrono::seconds kLongestWait{60};
  static constexpr std::chrono::seconds kProven{60};  ///< after this run time the wait starts again at kShortestWait

  /// @param root  folder that is "/" of the host
  /// @param programs  the root that the program is taken from; for "/" the variable PATH counts as well
  HostEngine(std::string root, std::string programs, Log log)
      : root_(std::move(root)), programs_(std::move(programs)), log_(std::move(log)) {}
  ~HostEngine() { stop(); }
  HostEngine(const HostEngine&) = delete;
  HostEngine& operator=(const HostEngine&) = delete;

  /// Returns the address that the engine listens on: a socket below the host's /run/slipway, no TCP port.
  EngineAddress address() const;
  /// Starts the engine unless it runs or ended recently: each exit that the service did not request doubles the wait.
  /// Errors: `not_found` not installed; `busy` it ended and the wait is not over (the text says how it ended); system
  /// errors.
  Status keep_running(Clock::time_point now);
  /// Sends SIGTERM, then SIGKILL after 5 s.
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
