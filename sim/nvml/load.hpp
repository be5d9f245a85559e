// SPDX-License-Identifier: Apache-2.0
// sim/nvml/load.hpp - the effects of a GPU's load: power, heat, clocks, counters that move with time.
#pragma once

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Percent: the configured load, reduced by a value that varies over ten seconds. Zero when idle.
std::uint32_t utilisation_now(const Gpu& gpu);
std::uint32_t power_now_mw(const Gpu& gpu);
std::uint32_t temperature_now(const Gpu& gpu);
/// MHz; @param domain 0 graphics, 1 SM, 2 memory, 3 video
std::uint32_t clock_now(const Gpu& gpu, unsigned domain);
/// Millijoules since the machine was created.
std::uint64_t energy_mj(const Machine& machine, const Gpu& gpu);
/// Bytes in use, by processes and by the setting.
std::uint64_t memory_used(const Machine& machine, unsigned gpu);
/// Bytes over all links in one direction since the machine was created.
std::uint64_t link_bytes(const Machine& machine, const Gpu& gpu);

}  // namespace slipway::sim
