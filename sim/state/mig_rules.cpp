// SPDX-License-Identifier: Apache-2.0
#include "sim/state/mig_rules.hpp"

#include "nvidia/nvml/abi/base.h"
#include "nvidia/nvml/abi/mig.h"

namespace slipway::sim {
namespace {

bool overlap(std::uint32_t a, std::uint32_t a_size, std::uint32_t b, std::uint32_t b_size) {
  return a < b + b_size && b < a + a_size;
}

enum class Media { none, some, all };

/// Returns the shared media engines of the GPU that a profile uses.
Media media_of(const MigProfile& profile) {
  switch (profile.selector) {
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1:
      return Media::some;
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME:
      return Media::all;
    default:
      return Media::none;
  }
}

bool without_media(const MigProfile& profile) {
  return profile.selector == NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME ||
         profile.selector == NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME;
}

/// There is one set of JPEG and OFA engines for +me; +me.all leaves them to no profile except -me.
bool media_conflict(const MigProfile& one, const MigProfile& other) {
  if (media_of(one) == Media::all) return !without_media(other);
  if (media_of(other) == Media::all) return !without_media(one);
  return media_of(one) == Media::some && media_of(other) == Media::some;
}

/// Counts the (profile, start) pairs of the model that would be free beside the instances and one more.
unsigned left_over(const Gpu& gpu, unsigned profile, std::uint32_t start) {
  const MigModel& model = gpu.model.mig;
  unsigned count = 0;
  for (unsigned p = 0; p < model.profile_count; ++p)
    for (unsigned s = 0; s < model.profiles[p].start_count; ++s) {
      const std::uint32_t other = model.profiles[p].starts[s];
      const bool free = !overlap(other, model.profiles[p].size, start, model.profiles[profile].size);
      if (free && can_place(gpu, p, other) == NVML_SUCCESS) ++count;
    }
  return count;
}

}  // namespace

int profile_by_id(const MigModel& model, std::uint32_t id) {
  for (unsigned i = 0; i < model.profile_count; ++i)
    if (model.profiles[i].id == id) return static_cast<int>(i);
  return -1;
}

int profile_by_selector(const MigModel& model, std::uint32_t selector) {
  for (unsigned i = 0; i < model.profile_count; ++i)
    if (model.profiles[i].selector == selector) return static_cast<int>(i);
  return -1;
}

int can_place(const Gpu& gpu, unsigned profile, std::uint32_t start) {
  const MigModel& model = gpu.model.mig;
  const MigProfile& wanted = model.profiles[profile];
  std::uint32_t slices = wanted.slices;
  unsigned same = 0;
  for (const GpuInstance& instance : gpu.instances) {
    if (instance.used == 0) continue;
    const MigProfile& existing = model.profiles[instance.profile];
    if (overlap(start, wanted.size, instance.start, instance.size)) return NVML_ERROR_INSUFFICIENT_RESOURCES;
    if (media_conflict(wanted, existing)) return NVML_ERROR_INSUFFICIENT_RESOURCES;
    slices += existing.slices;
    same += instance.profile == profile ? 1U : 0U;
  }
  return slices > model.compute_slices || same >= wanted.max ? NVML_ERROR_INSUFFICIENT_RESOURCES : NVML_SUCCESS;
}

int default_start(const Gpu& gpu, unsigned profile, bool lowest) {
  const MigProfile& wanted = gpu.model.mig.profiles[profile];
  int best = -1;
  unsigned best_left = 0;
  for (unsigned i = 0; i < wanted.start_count; ++i) {
    const std::uint32_t start = wanted.starts[i];
    if (can_place(gpu, profile, start) != NVML_SUCCESS) continue;
    if (lowest) return static_cast<int>(start);
    // Recorded from A100: 1g goes to 6, 4, 5, 0, 1, 2, 3, which this rule gives (ties to the lowest).
    const unsigned left = left_over(gpu, profile, start);
    if (best < 0 || left > best_left) {
      best = static_cast<int>(start);
      best_left = left;
    }
  }
  return best;
}

unsigned remaining(const Gpu& gpu, unsigned profile) {
  Gpu trial = gpu;
  unsigned count = 0;
  int code = NVML_SUCCESS;
  trial.faults.create_fails = 0;
  while (create_instance(trial, profile, -1, true, &code) != nullptr) ++count;
  return count;
}

std::uint32_t instance_id(const MigModel& model, std::uint32_t start, std::uint32_t size) {
  if (size == 0 || size >= model.memory_slices) return 0;
  const std::uint32_t parts = model.memory_slices / size;  // 2, 4 or 8
  return (parts >= 8 ? 7U : parts >= 4 ? 3U : 1U) + start / size;
}

std::uint32_t compute_slices(std::uint32_t selector) {
  switch (selector) {
    case NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE:
    case NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1:
      return 1;
    case NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE:
      return 2;
    case NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE:
      return 3;
    case NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE:
      return 4;
    case NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE:
      return 6;
    case NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE:
      return 7;
    case NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE:
      return 8;
    default:
      return 0;
  }
}

bool compute_profile_fits(const GpuInstance& instance, const MigModel& model, std::uint32_t selector) {
  const std::uint32_t slices = compute_slices(selector);
  const std::uint32_t whole = model.profiles[instance.profile].slices;
  if (slices == 0 || slices > whole || selector == NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1) return false;
  return slices == whole || 2 * slices <= whole + 1;
}

std::uint32_t compute_multiprocessors(const GpuInstance& instance, const MigModel& model, std::uint32_t selector) {
  const MigProfile& profile = model.profiles[instance.profile];
  const std::uint32_t slices = compute_slices(selector);
  if (slices == profile.slices) return profile.multiprocessors;
  const int one = profile_by_selector(model, NVML_GPU_INSTANCE_PROFILE_1_SLICE);
  return one < 0 ? profile.multiprocessors * slices / profile.slices : model.profiles[one].multiprocessors * slices;
}

unsigned compute_starts(const GpuInstance& instance, const MigModel& model, std::uint32_t selector,
                        std::uint32_t starts[kMaxInstances]) {
  const std::uint32_t slices = compute_slices(selector);
  const std::uint32_t whole = model.profiles[instance.profile].slices;
  const std::uint32_t step = slices == 3 ? 4 : slices;  // 3c can be at 0 and 4 of a 7g
  unsigned count = 0;
  for (std::uint32_t start = 0; start + slices <= whole && count < kMaxInstances; start += step)
    starts[count++] = start;
  return count;
}

int compute_start(const GpuInstance& instance, const MigModel& model, std::uint32_t selector) {
  std::uint32_t starts[kMaxInstances];
  const std::uint32_t slices = compute_slices(selector);
  const unsigned count = compute_starts(instance, model, selector, starts);
  for (unsigned i = 0; i < count; ++i) {
    bool free = true;
    for (const ComputeInstance& other : instance.compute)
      free = free && (other.used == 0 || !overlap(starts[i], slices, other.start, other.size));
    if (free) return static_cast<int>(starts[i]);
  }
  return -1;
}

std::uint32_t lowest_free_compute_id(const GpuInstance& instance) {
  for (std::uint32_t id = 0; id < kMaxInstances; ++id) {
    bool taken = false;
    for (const ComputeInstance& other : instance.compute) taken = taken || (other.used != 0 && other.id == id);
    if (!taken) return id;
  }
  return kMaxInstances;
}

GpuInstance* create_instance(Gpu& gpu, unsigned profile, int start, bool lowest, int* code) {
  const MigProfile& wanted = gpu.model.mig.profiles[profile];
  *code = NVML_ERROR_INSUFFICIENT_RESOURCES;
  if (start < 0) start = default_start(gpu, profile, lowest);
  if (start < 0 || can_place(gpu, profile, static_cast<std::uint32_t>(start)) != NVML_SUCCESS) return nullptr;
  for (GpuInstance& slot : gpu.instances) {
    if (slot.used != 0) continue;
    slot = GpuInstance{};
    slot.used = 1;
    slot.profile = profile;
    slot.start = static_cast<std::uint32_t>(start);
    slot.size = wanted.size;
    slot.id = instance_id(gpu.model.mig, slot.start, slot.size);
    slot.serial = ++gpu.mig_serial;
    *code = NVML_SUCCESS;
    return &slot;
  }
  return nullptr;
}

ComputeInstance* create_compute(Gpu& gpu, GpuInstance& instance, std::uint32_t selector, int start, int* code) {
  *code = NVML_ERROR_INSUFFICIENT_RESOURCES;
  if (start < 0) start = compute_start(instance, gpu.model.mig, selector);
  if (start < 0) return nullptr;
  const std::uint32_t size = compute_slices(selector);
  for (const ComputeInstance& other : instance.compute)
    if (other.used != 0 && overlap(static_cast<std::uint32_t>(start), size, other.start, other.size)) return nullptr;
  for (ComputeInstance& slot : instance.compute) {
    if (slot.used != 0) continue;
    slot = ComputeInstance{.used = 1,
                           .id = lowest_free_compute_id(instance),
                           .selector = selector,
                           .start = static_cast<std::uint32_t>(start),
                           .size = size,
                           .serial = ++gpu.mig_serial};
    *code = NVML_SUCCESS;
    return &slot;
  }
  return nullptr;
}

void clear_instances(Gpu& gpu) {
  for (GpuInstance& instance : gpu.instances) instance = GpuInstance{};
}

}  // namespace slipway::sim
