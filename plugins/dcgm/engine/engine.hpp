// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/engine.hpp - the engine of DCGM's beside the sampler: a thread of its own asks it, so that one
// that hangs delays nothing; and its values beside NVML's.
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

/// The calls may come from any thread.
class Engine {
 public:
  using Log = HostEngine::Log;

  Engine(EngineOptions options, Log log);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The fields to watch from now on; nothing is asked, and nothing started, without any.
  void want(std::vector<unsigned> fields);
  /// Of the last answer; empty when that is older than three intervals and ten seconds.
  EngineReading latest() const;
  /// Why there are no values; empty: there are, or nobody wants any.
  std::string problem() const;
  /// Whether it answered when it was asked last; nothing: nobody has asked it anything.
  std::optional<bool> answers() const;
  /// Disconnects, and ends nv-hostengine where it is a child. Returns when that is so. wake() takes it up again.
  void quiet();
  void wake();

 private:
  using Clock = std::chrono::steady_clock;
  struct Wanted {
    std::vector<unsigned> fields;
    bool quiet = false;
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
  HostEngine child_;     ///< likewise
  std::vector<unsigned> watched_;
  std::string missing_;  ///< likewise, and logged

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Wanted wanted_;
  bool is_quiet_ = false;
  EngineReading reading_;
  Clock::time_point read_;
  std::string problem_;
  std::optional<bool> answers_;

  std::jthread thread_;  ///< last: it uses all above
};

/// Fields that NVML does not tell, and the profiling fields where a whole GPU has none of them by NVML. By number.
std::vector<unsigned> fields_for_engine(const Counters& counters, const Sample& sample);

struct Merged {
  Counters counters;
  Sample sample;
};
/// GPU instances get no values of an engine.
Merged with_engine(const Counters& counters, const Sample& sample, const EngineReading& reading,
                   const LinkSelection& selection = {});

}  // namespace slipway::dcgm
