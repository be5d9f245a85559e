// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/sampler.hpp - samples all GPUs repeatedly, whatever the driver does in the meantime.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <slipway/host.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/field_reader.hpp"
#include "dcgm/sampler/processors.hpp"
#include "dcgm/sampler/sample.hpp"
#include "dcgm/sampler/xid_watch.hpp"
#include "dcgm/selection/devices.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::dcgm {

struct SamplerOptions {
  std::string driver_root = "/";
  /// A longer call is abandoned. One call reads all of a GPU; the first one initializes it, which takes seconds without
  /// nvidia-persistenced.
  std::chrono::milliseconds call_limit{5000};
  /// Rates need two samples. After NVML is opened the first two are this far apart, so that every published sample has
  /// rates.
  std::chrono::milliseconds first_interval{100};
  bool until_exit = false;    ///< NvmlOptions::until_exit
  bool find_hanging = false;  ///< NvmlOptions::find_hanging
  bool mig_devices = false;   ///< Entity::mig_devices
  bool processes = false;     ///< Entity::processes
  DeviceSelection devices = {};
  LinkSelection links = {};
  DeviceSelection processors = {};
};

/// The contents of one sample.
struct LookOptions {
  bool details = false;  ///< GpuState::details
  /// The counters with these intervals are read; the others keep their values. Empty: all are read.
  std::set<std::chrono::milliseconds> due = {};

  bool has(const Counter& counter) const { return due.empty() || due.contains(counter.every); }
};

/// Used by one thread.
class Sampler {
 public:
  using Log = XidWatch::Log;

  /// `host` is borrowed.
  Sampler(const Host& host, SamplerOptions options, Log log);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Takes one sample. Opens NVML when it is closed. A GPU that does not answer is marked as such, and the others are
  /// read. Values that were never read are read even if they are not due.
  Sample sample(const std::shared_ptr<const Counters>& counters, const LookOptions& look = {});
  /// Returns NVML's events since the last call, including those seen during a sample; does not wait. Their XIDs are in
  /// the next sample.
  EventNews take_events();
  /// Becomes readable when take_events() has something to return; -1: nothing is watched.
  int event_fd() const { return xids_.fd(); }
  /// Closes NVML; the next sample opens it again.
  void release();

 private:
  struct Reading;   // results of one call about one GPU
  struct Question;  // the input of that call
  static nvmlReturn_t read_gpu(nvidia::nvml::Nvml& nvml, const Question& question, GpuHistory& history,
                               Reading& reading);
  static nvmlReturn_t read_entity(const Question& question, GpuHistory& history, FieldReader& reader, Entity& entity,
                                  Reading& reading);

  static void read_links(const Question& question, GpuHistory& history, FieldReader& reader, Reading& reading);

  Status open();
  bool look_at_gpus(const std::shared_ptr<const Counters>& counters, Sample& sample);
  void look_at_all(unsigned count, const std::shared_ptr<const Counters>& counters, Sample& sample);
  void look_at(unsigned index, const std::shared_ptr<const Counters>& counters, Sample& sample);
  void take(const Reading& reading, Sample& sample);
  void settle_states();
  void note_missing(unsigned count);
  void ask_recovery_actions(std::vector<XidEvent>& xids);
  void add_xids(const Counters& counters, Sample& sample) const;
  void look_at_peers(const Counters& counters, Sample& sample);
  void lost(GpuState& state, const std::string& why);
  void gone(const std::string& why);
  void forget_history();
  void note_events();

  const Host& host_;
  SamplerOptions options_;
  Log log_;
  std::optional<nvidia::nvml::Nvml> nvml_;
  XidWatch xids_;
  EventNews news_;  ///< events that take_events() has not returned yet
  Processors processors_;
  std::map<nvmlDevice_t, std::string> handles_;              ///< GPUs of the sample in progress, with their UUIDs
  std::map<unsigned, std::shared_ptr<GpuHistory>> history_;  ///< by index
  std::map<std::string, GpuState> gpus_;                     ///< by UUID
  std::optional<unsigned> counted_;         ///< number of GPUs that the driver showed when missing_ was computed
  std::vector<std::string> missing_;        ///< as Sample::missing
  std::map<unsigned, std::string> silent_;  ///< of the sample in progress: indexes of GPUs without an answer, and why
  std::set<unsigned> hanging_;              ///< indexes of GPUs with a hanging call
  std::map<std::string, std::uint64_t> read_errors_;
  std::vector<PeerStatus> peers_;
  std::map<nvmlDevice_t, std::string> peers_of_;  ///< the handles that `peers_` belongs to
  std::chrono::steady_clock::time_point peers_time_;
  std::string driver_version_;
  std::string problem_;
  nvmlReturn_t broken_ = NVML_SUCCESS;  ///< NVML's answer if the whole driver is gone
  bool answered_ = false;
  bool moved_ = false;    ///< the driver's list of GPUs changed during this sample
  bool no_rates_ = true;  ///< there was no sample before
  LookOptions look_;      ///< options of the sample in progress
  std::uint64_t outages_ = 0;
  std::uint64_t samples_ = 0;
};

/// Returns what to do about a GPU that cannot be read: `state.problem` is not empty.
std::string silent_gpu_remedy(const GpuState& state);

}  // namespace slipway::dcgm
