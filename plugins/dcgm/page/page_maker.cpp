// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/page_maker.hpp"

#include <algorithm>
#include <utility>

#include "dcgm/page/page.hpp"
#include "nvidia/nvml/event.hpp"

namespace slipway::dcgm {
namespace {

/// Returns the value that the line shows.
std::optional<double> busy(const GpuState& state) {
  if (!state.details) return std::nullopt;
  if (state.details->utilization) return state.details->utilization;
  if (state.details->memory_total == 0) return std::nullopt;
  return 100.0 * static_cast<double>(state.details->memory_used) / static_cast<double>(state.details->memory_total);
}

}  // namespace

PageMaker::PageMaker(OverviewOptions options) : options_(std::move(options)) {
  options_.interval = std::max(options_.interval, kShortest);
}

void PageMaker::add(const Sample& sample, Clock::time_point now) {
  next_ = now + options_.interval;
  std::map<std::string, Kept> kept;
  for (const GpuState& state : sample.gpus) {
    Kept& gpu = kept[state.gpu.uuid] = std::move(gpus_[state.gpu.uuid]);
    gpu.past.busy.add(sample.time, busy(state));
    for (const auto& [instance, number] : state.xids)
      if (std::exchange(gpu.xids[instance], number) != number)
        gpu.past.xids.push_back({.number = number,
                                 .instance = instance == NVML_NO_INSTANCE ? std::nullopt : std::optional(instance),
                                 .time = sample.time});
    if (gpu.past.xids.size() > Past::kMostXids)
      gpu.past.xids.erase(gpu.past.xids.begin(), gpu.past.xids.end() - Past::kMostXids);
  }
  gpus_ = std::move(kept);
}

Overview PageMaker::overview(const Sample& sample, const Counters& counters, const PodsAndHealth& known,
                             bool released) {
  std::vector<const Past*> pasts;
  for (const GpuState& state : sample.gpus) pasts.push_back(&gpus_[state.gpu.uuid].past);
  OverviewOptions options = options_;
  options.released = released;
  return make_overview(sample, counters, known, pasts, options);
}

std::shared_ptr<const PageTexts> PageMaker::make(const Sample& sample, const Counters& counters,
                                                 const PodsAndHealth& known, bool released) {
  const Overview now = overview(sample, counters, known, released);
  return std::make_shared<const PageTexts>(PageTexts{page_html(now), terminal_safe(canonical(to_json(now))) + "\n"});
}

}  // namespace slipway::dcgm
