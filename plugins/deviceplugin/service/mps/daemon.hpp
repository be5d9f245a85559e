// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/daemon.hpp - keeps the MPS control daemon of one resource running and configured.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "deviceplugin/service/mps/pipe/pipe_look.hpp"
#include "deviceplugin/service/mps/process.hpp"
#include "deviceplugin/service/mps/program.hpp"
#include "deviceplugin/service/mps/settings.hpp"
#include "deviceplugin/service/mps/system/command.hpp"

namespace slipway::deviceplugin {

/// Formats an error on one line: "what: where (what to do)".
std::string words_of(const Error& error);

/// Used by one thread. A daemon that an earlier process of this service left running is taken over with its clients if
/// its process can be identified; an answer alone is not enough.
class MpsDaemon {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;

  MpsDaemon(MpsProgram program, std::string resource, Log log);
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  /// Does one step: starts the daemon, asks whether it answers, or sends settings; work beyond the budget continues in
  /// the next step. Starting and stopping take seconds more if systemd or the daemon hangs.
  void tick(const MpsSettings& settings, const MpsBudget& budget);
  /// Takes over a running daemon. @return false: there is none. Errors: `timed_out`: a later call can tell
  Result<bool> take_over();
  /// Ends the daemon when it reports no clients, or when clients cannot use it. @return false: the daemon keeps running
  bool stop_when_idle(const MpsBudget& budget);

  bool runs() const { return state_ != State::stopped; }
  bool ready() const { return state_ == State::ready; }
  const std::string& problem() const { return problem_; }

 private:
  enum class State { stopped, starting, ready };
  Status usable();
  Status reachable();
  static bool lost(const Error& why, Clock::time_point now, std::optional<Clock::time_point>& since);
  Status answers(const MpsBudget& budget) const;
  Result<std::string> tell(const std::string& command, const MpsBudget& budget) const;
  Status send_settings(const MpsSettings& settings, const MpsBudget& budget);
  Status set_memory_limit(const MpsSettings::Limit& limit, const MpsBudget& budget) const;
  Status set_threads(unsigned percentage, const MpsBudget& budget) const;
  bool has_clients(const MpsBudget& budget) const;
  Status start(Clock::time_point now);
  void settled(const MpsSettings& settings, Clock::time_point now);
  void failed(const Error& why, const MpsBudget& budget);
  void stop(const MpsBudget& budget);

  MpsProgram program_;
  std::string resource_;
  Log log_;
  PipeLook look_{program_.look, program_.pipe_folder(resource_)};
  State state_ = State::stopped;
  pid_t child_ = 0;     ///< to reap it; 0: it belongs to systemd or an earlier process
  MpsProcess process_;  ///< empty: not known yet
  std::optional<MpsSettings> told_;
  std::optional<MpsSettings> telling_;
  std::size_t limits_told_ = 0;  ///< of telling_
  std::string problem_ = "the MPS control daemon has not been started yet";
  Clock::time_point next_;
  std::optional<Clock::time_point> silent_since_;
  std::optional<Clock::time_point> unseen_since_;  ///< since then its folder cannot be read
  std::chrono::milliseconds back_off_{0};
};

}  // namespace slipway::deviceplugin
