// SPDX-License-Identifier: Apache-2.0
// sim/state/mig_rules.hpp - the MIG instances that a GPU has room for, the places that the driver chooses, their ids,
// and the minors of /dev/nvidia-caps, which are a fixed table of the open kernel modules.
//
// Pure functions of a Gpu. Codes are NVML's (nvmlReturn_t). Sources: published output of A100, A30 and H100 machines
// for the placements and their order; the open kernel modules for the ids.
#pragma once

#include <cstdint>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// For a fault with a count: returns true and decrements while it is not zero.
inline bool spend(std::uint32_t& times) { return times > 0 && times-- > 0; }

/// Index of the profile with that public id; -1: the model has none.
int profile_by_id(const MigModel& model, std::uint32_t id);
int profile_by_selector(const MigModel& model, std::uint32_t selector);

/// Returns SUCCESS if an instance of that profile can be created at that start, or the code of the reason.
int can_place(const Gpu& gpu, unsigned profile, std::uint32_t start);
/// Returns the driver's choice: the start that leaves the most room for others, else the lowest. -1: none.
int default_start(const Gpu& gpu, unsigned profile, bool lowest);
/// Returns how many more instances of the profile could be created.
unsigned remaining(const Gpu& gpu, unsigned profile);
/// Returns the id of an instance, which follows from its place: halves 1-2, quarters 3-6, eighths 7-14.
std::uint32_t instance_id(const MigModel& model, std::uint32_t start, std::uint32_t size);

/// Returns the number of slices of a compute instance profile, by its selector; 0: no such selector.
std::uint32_t compute_slices(std::uint32_t selector);
/// True when a compute instance of that selector can be part of that GPU instance.
bool compute_profile_fits(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
std::uint32_t compute_multiprocessors(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
/// Returns the legal start with room for it; -1: none.
int compute_start(const GpuInstance& instance, const MigModel& model, std::uint32_t selector);
/// Returns all legal starts, used or not. @return their number
unsigned compute_starts(const GpuInstance& instance, const MigModel& model, std::uint32_t selector,
                        std::uint32_t starts[kMaxInstances]);
std::uint32_t lowest_free_compute_id(const GpuInstance& instance);

/// Creates an instance. @param start  -1: the driver chooses @return the instance, or null with the code in `*code`
GpuInstance* create_instance(Gpu& gpu, unsigned profile, int start, bool lowest, int* code);
ComputeInstance* create_compute(Gpu& gpu, GpuInstance& instance, std::uint32_t selector, int start, int* code);
/// Removes all instances of a GPU, as a reset does.
void clear_instances(Gpu& gpu);

inline constexpr std::uint32_t kMigConfigMinor = 1;
inline constexpr std::uint32_t kMigMonitorMinor = 2;

/// Minor of a GPU instance, by the GPU's minor (0-31) and the instance's id (0-14).
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance) {
  return 3 + 135 * gpu_minor + 9 * instance;
}
/// Minor of a compute instance (0-7) in it.
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance, std::uint32_t compute) {
  return capability_minor(gpu_minor, instance) + 1 + compute;
}

}  // namespace slipway::sim
