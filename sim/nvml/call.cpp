// SPDX-License-Identifier: Apache-2.0
#include "sim/nvml/call.hpp"

#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

bool node_there(const char* format, unsigned minor) {
  char path[64];
  snprintf(path, sizeof path, format, minor);
  return access(path, F_OK) == 0;
}

}  // namespace

Call::Call(Function function)
    : machine_(process_state().initialisations > 0 ? opened_machine() : nullptr), use_(machine_) {
  if (machine_ == nullptr) return;
  function_ = &machine_->functions[static_cast<std::uint32_t>(function)];
  FunctionState& state = *function_;
  if (!machine_read_only()) ++state.calls;
  take_time(state.cost);
  while (state.hang != 0) wait_for_change(nullptr);
  ready_ = NVML_SUCCESS;
  if (machine_->driver == Driver::unloaded) ready_ = NVML_ERROR_UNINITIALIZED;
  if (machine_->driver == Driver::mismatch) ready_ = NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  if (kFunctions[static_cast<std::uint32_t>(function)].since > machine_->driver_branch)
    ready_ = NVML_ERROR_FUNCTION_NOT_FOUND;
  if (state.error != 0) ready_ = state.error;
  if (state.failing_call != 0 && state.failing_call == state.calls) ready_ = NVML_ERROR_UNKNOWN;
}

void take_time(MachineLock& lock, FunctionState& function, const Cost& cost) {
  if (cost.processor_us == 0 && cost.wall_us == 0) return;
  if (!machine_read_only()) function.spent_us += cost.processor_us;
  const Cost due = cost;  // the machine may change while it is unlocked
  lock.unlock();
  take_time(due);
  lock.lock();
}

bool wait_for_change(MachineLock& lock, const Machine& machine, const timespec* deadline) {
  const std::uint32_t seen = machine.changes;
  lock.unlock();
  const bool in_time = wait_for_change_since(machine, seen, deadline);
  lock.lock();
  return in_time;
}

nvmlReturn_t Call::find(const void* handle, Target* target) {
  *target = find_target(*machine_, handle);
  if (target->kind == Kind::none) return NVML_ERROR_INVALID_ARGUMENT;
  while (target->gpu->faults.hang != 0) wait_for_change(nullptr);
  *target = find_target(*machine_, handle);
  if (target->kind == Kind::none) return NVML_ERROR_INVALID_ARGUMENT;
  return target->gpu->faults.lost != 0 ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t Call::privileged() const {
  return machine_read_only() || geteuid() != 0 ? NVML_ERROR_NO_PERMISSION : NVML_SUCCESS;
}

nvmlReturn_t give_text(const char* text, char* buffer, unsigned length) {
  if (buffer == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const std::size_t size = strlen(text) + 1;
  if (size > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(buffer, text, size);
  return NVML_SUCCESS;
}

bool visible(const Machine& machine, const Gpu& gpu) {
  if (gpu.hidden != 0) return false;
  return machine.visible == Visible::all || node_there("/dev/nvidia%u", gpu.minor);
}

bool visible(const Machine& machine, const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute) {
  if (machine.visible == Visible::all) return true;
  return node_there("/dev/nvidia-caps/nvidia-cap%u", capability_minor(gpu.minor, instance.id)) &&
         node_there("/dev/nvidia-caps/nvidia-cap%u", capability_minor(gpu.minor, instance.id, compute.id));
}

unsigned visible_gpus(const Machine& machine, unsigned list[kMaxGpus]) {
  unsigned count = 0;
  for (unsigned i = 0; i < machine.gpu_count; ++i)
    if (visible(machine, machine.gpus[i])) list[count++] = i;
  return count;
}

}  // namespace slipway::sim
