// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/field_reader.hpp - asks NVML for the fields of one GPU; a question that gives several fields is
// asked once.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"
#include "dcgm/selection/devices.hpp"
#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/abi/sample.h"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::dcgm {

/// A GPU instance, and the handle of a MIG device in it; null: it has no compute instance.
struct MigInstance {
  unsigned id = 0;
  std::string profile;
  nvmlGpuInstancePlacement_t place{};  ///< slices of the memory
  nvmlDevice_t device = nullptr;
  std::vector<nvmlDevice_t> devices;  ///< all MIG devices in the instance
};

struct MigLayout {
  nvidia::nvml::MigMode mode;
  std::vector<MigInstance> instances;  ///< by id; empty without MIG
  unsigned slices = 1;                 ///< of the memory, where MIG is enabled
};

/// State that one GPU's previous sample left for computing rates. Used only inside calls of NVML.
struct GpuHistory {
  using Clock = std::chrono::steady_clock;
  /// A function of NVML, and its argument.
  using Question = std::pair<std::string_view, unsigned>;
  struct Traffic {
    std::array<std::uint64_t, 2> kib{};  ///< sent, received
    Clock::time_point time;
  };
  /// Two of NVML's samples, used in turns.
  struct Profile {
    nvmlGpmSample_t last = nullptr;
    nvmlGpmSample_t spare = nullptr;  ///< the sample before `last`
    bool taken = false;               ///< `last` is filled
  };
  /// The interval of the counters that read the value, and the link or GPU instance. A rate is computed since the last
  /// read at the same interval.
  using Place = std::pair<std::chrono::milliseconds, unsigned>;
  std::string uuid;                          ///< the GPU of this history
  nvmlDevice_t handle = nullptr;             ///< the handle that `identity` belongs to
  GpuIdentity identity;                      ///< valid while the handle refers to the same GPU
  std::map<Place, Traffic> links;            ///< a link, or kAllLinks
  std::map<Place, Profile> profiles;         ///< a GPU instance; the GPU itself is NVML_NO_INSTANCE
  std::shared_ptr<const Counters> counters;  ///< the counters that `last` was read with
  std::map<unsigned, Entity> last;           ///< the previous sample, by GPU instance
  std::optional<std::vector<LinkEntity>> last_links;
  std::optional<bool> profiling_support;  ///< set once it is known
  /// The GPU instances that the GPU can have, and its memory slices, once known: reading them takes dozens of calls,
  /// and they do not change.
  std::vector<nvidia::nvml::GpuInstanceProfile> mig_profiles;
  unsigned mig_slices = 1;
  /// MIG was off at that time, and an event reports when that changes; empty: read the mode.
  std::optional<Clock::time_point> mig_off_since;
  std::map<Question, nvidia::nvml::Answer<unsigned long long>> constants;
  std::map<Question, nvidia::nvml::Answer<std::string>> texts;

  /// Returns the samples to NVML.
  void release(nvidia::nvml::Nvml& nvml);
};

class FieldReader {
 public:
  using Read = nvidia::nvml::Answer<Value>;

  using Wanted = std::function<bool(const Counter&)>;

  /// All but `gpu` are borrowed.
  FieldReader(nvidia::nvml::Nvml& nvml, nvmlDevice_t gpu, const Counters& counters, GpuHistory& history);
  /// Announces the values that will be read, so that one call can read several of them.
  void expect(Wanted wanted) { wanted_ = std::move(wanted); }
  /// Selects the GPU instance for the following reads; values of the whole GPU are reported for it too, as
  /// dcgm-exporter does.
  void select(const MigInstance& instance);
  /// Reads the value; empty if the GPU does not have it, and for Source::xid, which comes from NVML's events.
  Read read(const Counter& counter);
  /// Reads all counters of each selected link.
  std::vector<LinkEntity> read_links(const GpuIdentity& gpu, const LinkSelection& selection);
  /// Returns the processes on the GPU's multiprocessors and memory.
  std::vector<ProcessUse> read_processes();
  /// @param told_by_event  an event reports a change of the mode, so that a disabled mode need not be read each time
  const MigLayout& read_mig(bool told_by_event);
  using Processes = nvidia::nvml::Answer<std::vector<nvidia::nvml::Process>>;
  const Processes& processes_of(nvmlDevice_t device, nvidia::nvml::ProcessKind kind);
  /// Memory of the GPU or of a MIG device.
  const nvidia::nvml::Answer<nvidia::nvml::Memory>& memory_of(nvmlDevice_t device);

 private:
  /// Traffic over one link, or over all of them: sent and received.
  struct Traffic {
    std::array<std::uint64_t, 2> kib{};
    std::array<std::uint64_t, 2> more_kib{};  ///< since the previous read
    std::chrono::duration<double> passed{};   ///< since the previous read; 0: this is the first one
  };

  Read read_field(const Field& field);
  Read ask_field(const Field& field);
  const nvidia::nvml::Answer<unsigned long long>& number_of(const Field& field);
  nvidia::nvml::Answer<unsigned long long> ask_number(const Field& field);
  nvidia::nvml::Answer<std::string> ask_text(const Field& field);
  Read read_link(const Field& field, unsigned link);
  Read read_number(const Field& field);
  Read read_text(const Field& field);
  Read read_brand();
  Read read_bar1(const Field& field);
  Read read_memory_errors(const Field& field);
  Read read_sram_threshold();
  Read read_row_histogram(const Field& field);
  Read read_temperature();
  Read read_field_value(const Field& field);
  Read read_utilization(const Field& field);
  Read read_framebuffer(const Field& field);
  Read read_retired_pages(const Field& field);
  Read read_gpu_memory(const Field& field);
  Read memory_part(const Field& field, const nvidia::nvml::Answer<nvidia::nvml::Memory>& answer) const;
  const nvidia::nvml::Answer<Traffic>& traffic_of(unsigned link);
  Read read_nvlink_rate(const Field& field);
  Read read_nvlink_bytes(const Field& field);
  Read read_license();
  Read read_profiling(const Field& field);

  void ask_field_values();
  nvmlReturn_t ask_profiling();

  nvidia::nvml::Nvml& nvml_;
  nvmlDevice_t gpu_;
  const Counters& counters_;
  GpuHistory& history_;
  Wanted wanted_ = [](const Counter&) { return true; };
  std::chrono::milliseconds every_{0};  ///< interval of the counter that is being read
  std::optional<MigInstance> instance_;
  std::optional<std::map<unsigned, nvmlFieldValue_t>> field_values_;
  nvmlReturn_t field_values_code_ = NVML_SUCCESS;
  std::optional<nvidia::nvml::Answer<nvmlUtilization_t>> utilization_;
  std::map<nvmlDevice_t, nvidia::nvml::Answer<nvidia::nvml::Memory>> memories_;
  std::map<GpuHistory::Question, nvidia::nvml::Answer<unsigned long long>> numbers_;
  std::map<const Field*, Read> reads_;
  std::map<std::pair<nvmlDevice_t, nvidia::nvml::ProcessKind>, Processes> processes_;
  std::optional<MigLayout> mig_;
  std::optional<nvidia::nvml::Answer<nvmlBAR1Memory_t>> bar1_;
  std::optional<nvidia::nvml::Answer<nvmlRowRemapperHistogramValues_t>> rows_;
  std::map<GpuHistory::Place, nvidia::nvml::Answer<Traffic>> traffic_;  ///< a link, or kAllLinks
  std::map<std::chrono::milliseconds, nvmlReturn_t> profiling_codes_;
  std::map<unsigned, nvmlGpmMetric_t> profiling_;
};

}  // namespace slipway::dcgm
