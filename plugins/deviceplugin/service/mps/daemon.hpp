// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/daemon.hpp - keeps the MPS control daemon of one resource running and told.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "deviceplugin/service/mps/program.hpp"
#include "deviceplugin/service/mps/settings.hpp"

namespace slipway::deviceplugin {

/// Used by one thread. A daemon that an earlier process of this service left running is taken over with its clients.
class MpsDaemon {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;

  MpsDaemon(MpsProgram program, std::string resource, Log log);
  ~MpsDaemon();  ///< ends it when it surely has no clients; else it goes on, to be taken over
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  /// One step: starts it, asks whether it is there, tells it what it should know. Takes seconds when it hangs.
  void tick(const MpsSettings& settings, Clock::time_point now);
  /// Makes one that runs already this one's. @return false: there is none
  bool take_over();
  /// Ends it when it says that it has no clients. @return false: it goes on
  bool stop_when_idle();
  /// Ends it, with its clients.
  void stop();

  bool runs() const { return state_ != State::stopped; }
  bool ready() const { return state_ == State::ready; }
  const std::string& problem() const { return problem_; }

 private:
  enum class State { stopped, starting, ready };
  bool answers() const;
  bool gone();
  bool has_clients(const std::string& servers) const;
  bool set_memory_limit(const MpsSettings::Limit& limit) const;
  Status set_threads(unsigned percentage) const;
  void start(Clock::time_point now);
  void configure(const MpsSettings& settings, Clock::time_point now);
  void failed(const std::string& why, Clock::time_point now);
  void ended();

  MpsProgram program_;
  std::string resource_;
  Log log_;
  State state_ = State::stopped;
  pid_t child_ = 0;  ///< 0: systemd's, or an earlier process's
  pid_t pid_ = 0;    ///< 0: not known yet, or none can be told
  std::optional<MpsSettings> told_;
  std::string problem_ = "the MPS control daemon has not been started yet";
  Clock::time_point next_;
  Clock::time_point started_;
  std::optional<Clock::time_point> silent_since_;
  std::chrono::milliseconds back_off_{0};
};

}  // namespace slipway::deviceplugin
