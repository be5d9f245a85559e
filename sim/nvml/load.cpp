// SPDX-License-Identifier: Apache-2.0
#include "sim/nvml/load.hpp"

#include "sim/nvml/machine_file.hpp"

namespace slipway::sim {
namespace {

constexpr std::int64_t kNsPerMs = 1000000;

std::uint64_t age_ms(const Machine& machine) {
  const std::int64_t age = (now_ns() - machine.made_at_ns) / kNsPerMs;
  return age > 0 ? static_cast<std::uint64_t>(age) : 0;
}

std::uint32_t between(std::uint32_t low, std::uint32_t high, std::uint32_t percent) {
  return high <= low ? low : low + (high - low) * percent / 100;
}

}  // namespace

std::uint32_t utilisation_now(const Gpu& gpu) {
  if (gpu.load_percent == 0) return 0;
  const auto phase = static_cast<std::uint32_t>(now_ns() / (1000 * kNsPerMs) % 10);  // 0 … 9, changes each second
  const std::uint32_t less = phase < 5 ? phase : 9 - phase;
  return gpu.load_percent > less ? gpu.load_percent - less : 1;
}

std::uint32_t power_now_mw(const Gpu& gpu) {
  const std::uint32_t wanted = between(gpu.model.power_idle_mw, gpu.model.power_default_mw, utilisation_now(gpu));
  return wanted < gpu.power_limit_mw ? wanted : gpu.power_limit_mw;
}

std::uint32_t temperature_now(const Gpu& gpu) {
  const std::uint32_t hottest = gpu.model.temperature_slowdown > 15 ? gpu.model.temperature_slowdown - 15 : 70;
  return between(gpu.model.temperature_idle, hottest, utilisation_now(gpu));
}

std::uint32_t clock_now(const Gpu& gpu, unsigned domain) {
  if (domain > 3) return 0;
  std::uint32_t clock = gpu.load_percent > 0 ? gpu.model.clock_max[domain] : gpu.model.clock_idle[domain];
  if (domain < 2 && gpu.locked_clock_max != 0) {
    if (clock > gpu.locked_clock_max) clock = gpu.locked_clock_max;
    if (clock < gpu.locked_clock_min) clock = gpu.locked_clock_min;
  }
  return clock;
}

std::uint64_t energy_mj(const Machine& machine, const Gpu& gpu) {
  // The mean over the ten seconds of the wave, so that the counter never decreases.
  const std::uint32_t mean = gpu.load_percent > 2 ? gpu.load_percent - 2 : gpu.load_percent;
  const std::uint64_t power_mw = between(gpu.model.power_idle_mw, gpu.model.power_default_mw, mean);
  return power_mw * age_ms(machine) / 1000;
}

std::uint64_t memory_used(const Machine& machine, unsigned gpu) {
  std::uint64_t bytes = machine.gpus[gpu].memory_used_mib << 20U;
  for (const Process& process : machine.processes)
    if (process.used != 0 && process.gpu == gpu) bytes += process.memory_bytes;
  const std::uint64_t most = (machine.gpus[gpu].model.memory_mib - machine.gpus[gpu].model.reserved_mib) << 20U;
  return bytes < most ? bytes : most;
}

std::uint64_t link_bytes(const Machine& machine, const Gpu& gpu) {
  const std::uint64_t per_second = std::uint64_t{gpu.model.links} * gpu.model.link_mbytes_per_s * 1000000 / 100;
  return age_ms(machine) / 1000 * per_second * gpu.load_percent;
}

}  // namespace slipway::sim
