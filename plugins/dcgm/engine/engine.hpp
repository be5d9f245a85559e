// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/engine.hpp - DCGM's engine beside the sampler: a thread of its own asks it, so that a hanging
// engine delays nothing; and its values beside NVML's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dcgm/counters/counters.hpp"
#include "dcgm/engine/client.hpp"
#include "dcgm/engine/host_engine.hpp"
#include "dcgm/engine/options.hpp"
#include "dcgm/sampler/sample.hpp"
#include "dcgm/selection/devices.hpp"

namespace slipway::dcgm {

/// Thread-safe.
class EnginePoller {
 public:
  using Log = HostEngine::Log;

  EnginePoller(EngineOptions options, Log log);
  ~EnginePoller();
  EnginePoller(const EnginePoller&) = delete;
  EnginePoller& operator=(const EnginePoller&) = delete;

  /// Sets the fields to watch. Without fields, the engine is neither started nor asked.
  void want(std::vector<unsigned> fields);
  /// Returns the last reading; empty when it is older than three intervals plus ten seconds.
  EngineReading latest() const;
  /// Says why there are no values; empty: there are values, or no fields are wanted.
  std::string problem() const;
  /// True when the engine answered the last request; empty: it was never asked.
  std::optional<bool> answers() const;
  /// Disconnects, ends nv-hostengine if it is a child process, and returns when both are done. wake() reverses it.
  void quiesce();
  void wake();

 private:
  using Clock = std::chrono::steady_clock;
  struct Wanted {
    std::vector<unsigned> fields;
    bool quiesced = false;
    bool operator==(const Wanted&) const = default;
  };

  void work(const std::stop_token& stop);
  Wanted wait(const std::stop_token& stop, std::chrono::milliseconds limit, const Wanted& before);
  Status ask(const Wanted& wanted);
  void publish(EngineReading reading);
  void fail(const Error& error);
  void release();

  const EngineOptions options_;
  const Log log_;
  EngineClient client_;  ///< of the thread
  HostEngine child_;     ///< of the thread
  std::vector<unsigned> watched_;
  std::string missing_;  ///< of the thread: the last logged reason for missing values

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Wanted wanted_;
  bool is_quiesced_ = false;
  EngineReading reading_;
  Clock::time_point read_;
  std::string problem_;
  std::optional<bool> answers_;

  std::jthread thread_;  ///< last: the thread uses all members above
};

/// Returns the fields that NVML does not have, and the profiling fields if NVML supplies none of them for a whole GPU.
/// Sorted by number.
std::vector<unsigned> fields_for_engine(const Counters& counters, const Sample& sample);

struct Merged {
  Counters counters;
  Sample sample;
};
/// Merges the engine's reading into counters and sample. GPU instances get no values from an engine.
Merged with_engine(const Counters& counters, const Sample& sample, const EngineReading& reading,
                   const LinkSelection& selection = {});

}  // namespace slipway::dcgm
