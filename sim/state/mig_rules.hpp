// SPDX-License-Identifier: Apache-2.0
// sim/state/mig_rules.hpp - which MIG instances a GPU has room for, where the driver puts them, their ids, and the
// minors of /dev/nvidia-caps, which are a fixed table of the open kernel modules.
//
// Pure functions of a Gpu. Codes are NVML's (nvmlReturn_t). Sources: published output of A100, A30 and H100 machines
// for the placements and their order; the open kernel modules for the ids.
#pragma once

#include <cstdint>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// A fault that happens so many times: true, and one less, while there is one left.
inline bool spend(std::uint32_t& times) { return times > 0 && times-- > 0; }

/// Index into the profiles by the id that NVML's callers use; -1: the model has none.
int profile_by_id(const MigModel& model, std::uint32_t id);
int profile_by_selector(const MigModel& model, std::uint32_t selector);

/// Could an instance of that profile be made at that start now? SUCCESS, or the code that says why not.
int can_place(const Gpu& gpu, unsigned profile, std::uint32_t start);
/// Where the driver would put one: the start that leaves the most for others, else the lowest. -1: nowhere.
int default_start(const Gpu& gpu, unsigned profile, bool lowest);
/// How many more of the profile could be made.
unsigned remaining(const Gpu& gpu, unsigned profile);
/// The id of an instance, which follows from where it lies: halves 1-2, quarters 3-6, eighths 7-14.
std::uint32_t instance_id(const MigModel& model, std::uint32_t start, std::uint32_t size);

/// A compute instance profile by its selector: how many slices it has; 0: no such selector.
std::uint32_t compute_slices(std::uint32_t selector);
/// May a compute instance of that selector be part of that GPU instance?
bool compute_profile_fits(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
std::uint32_t compute_multiprocessors(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
/// The legal start with room for it; -1: none.
int compute_start(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
/// All legal starts, whatever is there. @return their number
unsigned compute_starts(const GpuInstance& instance, const MigModel& model, std::uint32_t selector,
                        std::uint32_t starts[kMaxInstances]);
std::uint32_t lowest_free_compute_id(const GpuInstance& instance);

/// Makes an instance. @param start  -1: the driver chooses @return the instance, or null with the code in `*code`
GpuInstance* create_instance(Gpu& gpu, unsigned profile, int start, bool lowest, int* code);
ComputeInstance* create_compute(Gpu& gpu, GpuInstance& instance, std::uint32_t selector, int start, int* code);
/// All instances of a GPU vanish, as at a reset.
void clear_instances(Gpu& gpu);

inline constexpr std::uint32_t kMigConfigMinor = 1;
inline constexpr std::uint32_t kMigMonitorMinor = 2;

/// Of a GPU instance, by the GPU's minor (0-31) and the instance's id (0-14).
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance) {
  return 3 + 135 * gpu_minor + 9 * instance;
}
/// Of a compute instance (0-7) of it.
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance, std::uint32_t compute) {
  return capability_minor(gpu_minor, instance) + 1 + compute;
}

}  // namespace slipway::sim
