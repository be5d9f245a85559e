// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "sim/model/machine.hpp"

namespace slipway::sim {
namespace {

/// Returns the GPU's next unconnected link; nullptr: all are in use.
std::int32_t* free_link(sim::Gpu& gpu) {
  std::int32_t* const end = gpu.link_peers + gpu.model.links;
  std::int32_t* const found = std::find(gpu.link_peers, end, sim::kNobody);
  return found == end ? nullptr : found;
}

}  // namespace

Status set_sim_links(const SimProfile& profile, sim::Machine& machine) {
  for (unsigned i = 0; i < machine.gpu_count; ++i)
    std::ranges::fill(machine.gpus[i].link_peers, profile.direct_links ? sim::kNobody : sim::kSwitch);
  for (const SimLinks& links : profile.links)
    for (unsigned i = 0; i < links.count; ++i) {
      std::int32_t* const first = free_link(machine.gpus[links.first]);
      std::int32_t* const second = free_link(machine.gpus[links.second]);
      if (first == nullptr || second == nullptr)
        return Error{ErrorCode::invalid,
                     fmt::format("GPU {} has only {} NVLinks", first == nullptr ? links.first : links.second,
                                 machine.gpus[first == nullptr ? links.first : links.second].model.links),
                     profile.name,
                     "name fewer links of it in nvml.links",
                     {}};
      *first = static_cast<std::int32_t>(links.second);
      *second = static_cast<std::int32_t>(links.first);
    }
  return {};
}

}  // namespace slipway::sim
