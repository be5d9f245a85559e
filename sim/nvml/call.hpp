// SPDX-License-Identifier: Apache-2.0
// sim/nvml/call.hpp - the common first part of every simulated call: count, wait, fail if configured.
#pragma once

#include <ctime>

#include "nvidia/nvml/abi/base.h"
#include "sim/nvml/handle.hpp"
#include "sim/nvml/machine_file.hpp"

/// An exported function of NVML.
#define SLIPWAY_NVML_EXPORT extern "C" __attribute__((visibility("default"))) nvmlReturn_t

namespace slipway::sim {

inline constexpr nvmlReturn_t kNotSupported = NVML_ERROR_NOT_SUPPORTED;

/// Burns the processor time, and sleeps for the rest of the wall time. The simulator's own time counts as part of it.
void take_time(const Cost& cost);

/// Allocates memory that is written once and kept until the process unloads the library, as NVML does.
/// @return the processor time that this took, in microseconds
std::uint32_t keep_memory(std::uint32_t kib);

/// Implement Call::take_time() and Call::wait_for_change().
void take_time(MachineLock& lock, FunctionState& function, const Cost& cost);
bool wait_for_change(MachineLock& lock, const Machine& machine, const timespec* deadline);

/// One call in progress, with the machine locked.
class Call {
 public:
  explicit Call(Function function);
  /// SUCCESS when the call may continue; else the code to return.
  nvmlReturn_t ready() const { return ready_; }
  Machine& machine() const { return *machine_; }
  /// Finds the target of a handle, or returns INVALID_ARGUMENT or GPU_IS_LOST. Waits while that GPU hangs.
  nvmlReturn_t find(const void* handle, Target* target);
  /// Returns NO_PERMISSION when this process may not change the machine.
  nvmlReturn_t privileged() const;
  /// Spends the processor time and the wall time of a cost, with the machine unlocked meanwhile.
  void take_time(const Cost& cost) { sim::take_time(lock_, *function_, cost); }
  /// Waits, with the machine unlocked, until something changes. @param deadline CLOCK_MONOTONIC; null: none
  /// @return false when the deadline has passed, or the thread got a signal
  bool wait_for_change(const timespec* deadline) { return sim::wait_for_change(lock_, *machine_, deadline); }

 private:
  MachineLock lock_;
  Machine* machine_;
  MachineUse use_;  // ends before the lock is released
  FunctionState* function_ = nullptr;
  nvmlReturn_t ready_ = NVML_ERROR_UNINITIALIZED;
};

/// A call about the system: `body(machine)` returns its answer.
template <class Body>
nvmlReturn_t with_machine(Function function, Body body) {
  Call call(function);
  return call.ready() != NVML_SUCCESS ? call.ready() : body(call.machine());
}

/// A call about a GPU, a MIG device or an instance: `body(machine, target)` returns its answer.
template <class Body>
nvmlReturn_t with_target(Function function, const void* handle, Body body) {
  Call call(function);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  Target target;
  const nvmlReturn_t found = call.find(handle, &target);
  return found != NVML_SUCCESS ? found : body(call.machine(), target);
}

/// A call about a whole GPU; a MIG device is an invalid argument. `body(gpu)` or `body(gpu, machine)`.
template <class Body>
nvmlReturn_t with_gpu(Function function, nvmlDevice_t handle, Body body) {
  return with_target(function, handle, [&body](Machine&, const Target& target) {
    return target.kind != Kind::gpu ? static_cast<nvmlReturn_t>(NVML_ERROR_INVALID_ARGUMENT) : body(*target.gpu);
  });
}

/// A call about a GPU; a MIG device may be passed for its GPU.
template <class Body>
nvmlReturn_t with_any_device(Function function, nvmlDevice_t handle, Body body) {
  return with_target(function, handle, [&body](Machine&, const Target& target) {
    const bool device = target.kind == Kind::gpu || target.kind == Kind::mig_device;
    return device ? body(*target.gpu) : static_cast<nvmlReturn_t>(NVML_ERROR_INVALID_ARGUMENT);
  });
}

/// A call that changes the target of a handle of that kind, which only root may do: calls `body(machine, target)`.
template <class Body>
nvmlReturn_t change_target(Function function, const void* handle, Kind kind, Body body) {
  Call call(function);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  Target target;
  const nvmlReturn_t found = call.find(handle, &target);
  if (found != NVML_SUCCESS) return found;
  if (target.kind != kind) return NVML_ERROR_INVALID_ARGUMENT;
  const nvmlReturn_t allowed = call.privileged();
  return allowed != NVML_SUCCESS ? allowed : body(call.machine(), target);
}

/// A call that changes a GPU, which only root may do: calls `body(gpu)`.
template <class Body>
nvmlReturn_t change_gpu(Function function, nvmlDevice_t handle, Body body) {
  return change_target(function, handle, Kind::gpu, [&](Machine&, const Target& target) { return body(*target.gpu); });
}

/// Copies a text with its NUL. INSUFFICIENT_SIZE when it does not fit.
nvmlReturn_t give_text(const char* text, char* buffer, unsigned length);

/// Sets the target of a pointer; a null pointer is an invalid argument.
template <class T, class V>
nvmlReturn_t give(T* place, V value) {
  if (place == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *place = static_cast<T>(value);
  return NVML_SUCCESS;
}

template <class T, class V, class U, class W>
nvmlReturn_t give(T* place, V value, U* second, W other) {
  if (place == nullptr || second == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *place = static_cast<T>(value);
  *second = static_cast<U>(other);
  return NVML_SUCCESS;
}

/// Implements NVML's two-call lists: `*count` gets the existing number; a list that is too small is INSUFFICIENT_SIZE.
template <class T, class Each>
nvmlReturn_t give_list(unsigned* count, T* list, unsigned existing, Each each) {
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned room = list == nullptr ? 0 : *count;
  *count = existing;
  if (existing > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < existing; ++i) list[i] = each(i);
  return NVML_SUCCESS;
}

/// True when this process can see the GPU's device node. Always true unless the machine's setting is "by device nodes".
bool visible(const Machine& machine, const Gpu& gpu);
/// The same for the capability nodes of a MIG device.
bool visible(const Machine& machine, const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute);
/// Fills in the indices of the visible GPUs, in bus order. @return their number
unsigned visible_gpus(const Machine& machine, unsigned list[kMaxGpus]);

}  // namespace slipway::sim
