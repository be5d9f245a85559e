// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/field_reader.hpp - asks NVML for the fields of one GPU, each question once for all that it
// answers.
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
  std::vector<nvmlDevice_t> devices;  ///< all MIG devices in it
};

struct MigLayout {
  nvidia::nvml::MigMode mode;
  std::vector<MigInstance> instances;  ///< by id; none without MIG
  unsigned slices = 1;                 ///< of the memory, where MIG is enabled
};

/// What the former sample of one GPU left for rates. Used inside calls of NVML alone.
struct GpuHistory {
  using Clock = std::chrono::steady_clock;
  /// A function of NVML, and what it is asked for.
  using Question = std::pair<std::string_view, unsigned>;
  struct Traffic {
    std::array<std::uint64_t, 2> kib{};  ///< sent, received
    Clock::time_point time;
  };
  /// Two of NVML's samples, which take turns.
  struct Profile {
    nvmlGpmSample_t last = nullptr;
    nvmlGpmSample_t spare = nullptr;  ///< the one before it
    bool taken = false;               ///< there is a last one
  };
  /// By the interval of the counters that look at it, and the link or GPU instance. Rates are since their own last
  /// look.
  using Place = std::pair<std::chrono::milliseconds, unsigned>;
  std::string uuid;                          ///< of the GPU that all this is about
  nvmlDevice_t handle = nullptr;             ///< that `identity` was asked of
  GpuIdentity identity;                      ///< stays as it is for as long as the handle is the same GPU
  std::map<Place, Traffic> links;            ///< a link, or kAllLinks
  std::map<Place, Profile> profiles;         ///< a GPU instance; the GPU itself is NVML_NO_INSTANCE
  std::shared_ptr<const Counters> counters;  ///< that `last` is of
  std::map<unsigned, Entity> last;           ///< the look before, by GPU instance, likewise
  std::optional<std::vector<LinkEntity>> last_links;
  std::optional<bool> profiling_support;  ///< once it is known
  /// What GPU instances the GPU can have, and on how many slices, once it is known: that takes dozens of calls, and
  /// stays as it is.
  std::vector<nvidia::nvml::GpuInstanceProfile> mig_profiles;
  unsigned mig_slices = 1;
  /// MIG was off then, and an event tells when that changes; empty: the mode is to be asked.
  std::optional<Clock::time_point> mig_off_since;
  std::map<Question, nvidia::nvml::Answer<unsigned long long>> constants;
  std::map<Question, nvidia::nvml::Answer<std::string>> texts;

  /// Gives NVML its samples back.
  void release(nvidia::nvml::Nvml& nvml);
};

class FieldReader {
 public:
  using Read = nvidia::nvml::Answer<Value>;

  using Wanted = std::function<bool(const Counter&)>;

  /// All but `gpu` are borrowed.
  FieldReader(nvidia::nvml::Nvml& nvml, nvmlDevice_t gpu, const Counters& counters, GpuHistory& history);
  /// What is going to be read: one question asks for several of them.
  void expect(Wanted wanted) { wanted_ = std::move(wanted); }
  /// What follows is about this GPU instance; what only the GPU has is told of it all the same, as dcgm-exporter does.
  void select(const MigInstance& instance);
  /// The value; nothing where the GPU does not have it, and of Source::xid, which NVML tells by events.
  Read read(const Counter& counter);
  /// All counters of each link that is selected.
  std::vector<LinkEntity> read_links(const GpuIdentity& gpu, const LinkSelection& selection);
  /// What uses the GPU's multiprocessors and memory now.
  std::vector<ProcessUse> read_processes();
  /// @param told_by_event  an event tells when the mode changes, so that one that is off need not be asked each time
  const MigLayout& read_mig(bool told_by_event);
  using Processes = nvidia::nvml::Answer<std::vector<nvidia::nvml::Process>>;
  const Processes& processes_of(nvmlDevice_t device, nvidia::nvml::ProcessKind kind);
  /// Of the GPU or of a MIG device.
  const nvidia::nvml::Answer<nvidia::nvml::Memory>& memory_of(nvmlDevice_t device);

 private:
  /// Over a link, or over all of them: sent and received.
  struct Traffic {
    std::array<std::uint64_t, 2> kib{};
    std::array<std::uint64_t, 2> more_kib{};  ///< since the look before
    std::chrono::duration<double> passed{};   ///< since then; 0: there was none
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
  std::chrono::milliseconds every_{0};  ///< of the counter that is being read
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
