// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/page/overview.hpp - the overview of all GPUs for people, in the browser and in the terminal: a value
// that the sampling thread makes from a sample, and that `slipway top` reads back from its JSON.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/page/history.hpp"
#include "dcgm/sampler/details.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

enum class Level { good, note, attention, bad };
/// "ok", "note", "attention", "bad".
const char* word_of(Level level);

/// A reason why a GPU is not healthy.
struct HealthReason {
  std::string gpu;  ///< UUID; empty: all of them
  Level level = Level::attention;
  std::string text;
  std::string remedy;  ///< the remedy; may be empty
};

/// A container that uses a GPU or a GPU instance.
struct PodOnGpu {
  std::string gpu;                   ///< UUID
  std::optional<unsigned> instance;  ///< NVML's id of the GPU instance
  std::string name_space;
  std::string pod;
  std::string container;
};

/// Facts about the GPUs from other sources than NVML's sample: kubelet's podresources and the health rules.
struct PodsAndHealth {
  std::vector<PodOnGpu> pods;
  std::vector<HealthReason> reasons;
  bool judged = false;  ///< the rules that gave the reasons also cover XIDs; else each XID is a reason of its own
};

/// An XID, and when it was first seen.
struct SeenXid {
  std::uint64_t number = 0;
  std::optional<unsigned> instance;
  History::Time time;
};

/// A GPU over time, kept by the sampling thread.
struct Past {
  History busy;               ///< utilization; of a GPU without it, the share of its memory that is used
  std::vector<SeenXid> xids;  ///< the last ones, at most kMostXids
  static constexpr std::size_t kMostXids = 8;
};

struct GpuOverview {
  GpuIdentity gpu;
  bool is_listed = true;  ///< as GpuState
  Level level = Level::good;
  std::vector<HealthReason> reasons;
  std::optional<GpuDetails> details;  ///< empty: they could not be read
  std::vector<PodOnGpu> pods;
  std::vector<SeenXid> xids;
  std::vector<std::optional<unsigned>> line;  ///< History::steps()
};

struct Overview {
  std::string node;
  std::string driver_version;
  std::string slipway_version;
  std::string problem;  ///< why no GPU can be read; empty: GPUs can be read
  bool shows_processes = true;
  std::chrono::milliseconds interval{0};  ///< time between two overviews
  History::Time time;                     ///< of the sample
  std::vector<GpuOverview> gpus;
  std::vector<std::string> missing = {};  ///< as Sample::missing
};

struct OverviewOptions {
  std::string node;
  bool shows_processes = true;
  bool released = false;  ///< another program has asked for the driver
  std::chrono::milliseconds interval{0};
  std::string root = "/";  ///< the root of the service; slipway's commands in remedies name it
};

/// @param pasts  in the order of sample.gpus
Overview make_overview(const Sample& sample, const Counters& counters, const PodsAndHealth& known,
                       const std::vector<const Past*>& pasts, const OverviewOptions& options);

Json to_json(const Overview& overview);
/// JSON that also escapes the control characters U+007F to U+009F, which could control a terminal.
std::string terminal_safe(std::string_view json);
/// Reads JSON from another program, which may be another version of slipway or unrelated. Errors: `invalid`.
Result<Overview> overview_from_json(const Json& value);

/// Formats "4.0 GiB", with one digit behind the point.
std::string gibibytes(std::uint64_t bytes);
/// "the GPU at 0000:65:00.0 is on the PCI bus, but the driver does not show it: …"
std::string missing_text(const std::string& address);
/// "GPU 3", "all GPUs are A", "2 x A, 1 x B".
std::string models_text(const Overview& overview);
/// Returns "2 are bad, 1 needs attention"; empty: all are ok.
std::string levels_text(const Overview& overview);
/// "12:34:56 UTC".
std::string clock_text(History::Time time);

}  // namespace slipway::dcgm
