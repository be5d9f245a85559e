// SPDX-License-Identifier: Apache-2.0
// Initialisation, and questions about the driver as a whole.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

/// Takes the time of the first of several initialisations; most of it is spent only once per process.
void open_driver(MachineLock& lock, FunctionState& function, const Machine& machine) {
  ProcessState& process = process_state();
  Cost cost = process.opened_before ? machine.costs.further_initialisation : machine.costs.first_initialisation;
  // Writing the memory for the first time counts as part of the cost.
  const std::uint32_t spent = process.opened_before ? 0 : keep_memory(machine.costs.memory_kib);
  cost.processor_us -= std::min(spent, cost.processor_us);
  take_time(lock, function, cost);
  process.opened_before = true;
}

nvmlReturn_t initialise(Function function, unsigned flags) {
  MachineLock lock;
  Machine* const machine = open_machine();
  if (machine == nullptr) return NVML_ERROR_DRIVER_NOT_LOADED;
  lock.unlock();
  lock.lock();  // now locks the opened file too
  const MachineUse use(machine);
  FunctionState& state = machine->functions[static_cast<std::uint32_t>(function)];
  if (!machine_read_only()) ++state.calls;
  take_time(lock, state, state.cost);
  while (state.hang != 0) wait_for_change(lock, *machine, nullptr);
  if (state.error != 0) return state.error;
  if (machine->driver == Driver::unloaded) return NVML_ERROR_DRIVER_NOT_LOADED;
  if (machine->driver == Driver::mismatch) return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  unsigned list[kMaxGpus];
  const bool node_seen = machine->visible == Visible::all || access("/dev/nvidiactl", F_OK) == 0;
  if (!node_seen) return NVML_ERROR_DRIVER_NOT_LOADED;
  if (machine->visible == Visible::by_device_nodes && visible_gpus(*machine, list) == 0 &&
      (flags & NVML_INIT_FLAG_NO_GPUS) == 0 && machine->gpu_count > 0)
    return NVML_ERROR_NOT_FOUND;
  if (process_state().initialisations == 0) open_driver(lock, state, *machine);
  ++process_state().initialisations;
  if (!machine_read_only()) ++machine->initialisations;
  return NVML_SUCCESS;
}

const char* const kErrorTexts[] = {
    "Success",
    "Uninitialized",
    "Invalid Argument",
    "Not Supported",
    "Insufficient Permissions",
    "Already Initialized",
    "Not Found",
    "Insufficient Size",
    "Insufficient External Power",
    "Driver Not Loaded",
    "Timeout",
    "Interrupt Request Issue",
    "NVML Shared Library Not Found",
    "Function Not Found",
    "Corrupted infoROM",
    "GPU is lost",
    "GPU requires reset",
    "GPU access blocked by the operating system",
    "Driver/library version mismatch",
    "In use by another client",
    "Insufficient Memory",
    "No data",
    "The requested vgpu operation is not available on target device, becasue ECC is enabled",  // so in nvml.h
    "Insufficient Resources",
    "Frequency Not Supported",
    "Argument version mismatch",
    "Deprecated",
    "System is not in ready state",
    "No GPUs were found",
    "Resource not in correct state to perform requested operation",
    "Reset type not supported"};

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlInit() { return initialise(Function::nvmlInit, 0); }
SLIPWAY_NVML_EXPORT nvmlInit_v2() { return initialise(Function::nvmlInit_v2, 0); }
SLIPWAY_NVML_EXPORT nvmlInitWithFlags(unsigned flags) { return initialise(Function::nvmlInitWithFlags, flags); }

SLIPWAY_NVML_EXPORT nvmlShutdown() {
  MachineLock lock;
  if (process_state().initialisations == 0) return NVML_ERROR_UNINITIALIZED;
  Machine* const machine = opened_machine();
  const bool last = --process_state().initialisations == 0;
  if (machine == nullptr) return NVML_SUCCESS;
  const MachineUse use(machine);
  FunctionState& state = machine->functions[static_cast<std::uint32_t>(Function::nvmlShutdown)];
  if (!machine_read_only()) ++state.calls;
  if (last) take_time(lock, state, state.cost);
  return NVML_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(nvmlReturn_t code) {
  const bool known = code >= 0 && static_cast<unsigned>(code) < sizeof kErrorTexts / sizeof kErrorTexts[0];
  return known ? kErrorTexts[code] : "Unknown Error";
}

SLIPWAY_NVML_EXPORT nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return with_machine(Function::nvmlSystemGetDriverVersion,
                      [=](Machine& machine) { return give_text(machine.driver_version, version, length); });
}

SLIPWAY_NVML_EXPORT nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return with_machine(Function::nvmlSystemGetNVMLVersion, [=](Machine& machine) {
    char text[96];
    snprintf(text, sizeof text, "%u.%.80s", machine.cuda_version / 1000, machine.driver_version);
    return give_text(text, version, length);
  });
}

SLIPWAY_NVML_EXPORT nvmlSystemGetCudaDriverVersion(int* version) {
  return with_machine(Function::nvmlSystemGetCudaDriverVersion,
                      [=](Machine& machine) { return give(version, machine.cuda_version); });
}

SLIPWAY_NVML_EXPORT nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return with_machine(Function::nvmlSystemGetCudaDriverVersion_v2,
                      [=](Machine& machine) { return give(version, machine.cuda_version); });
}

SLIPWAY_NVML_EXPORT nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return with_machine(Function::nvmlSystemGetProcessName, [=](Machine& machine) -> nvmlReturn_t {
    for (const Process& process : machine.processes)
      if (process.used != 0 && process.pid == pid) return give_text(process.name, name, length);
    return NVML_ERROR_NOT_FOUND;
  });
}

SLIPWAY_NVML_EXPORT nvmlGetExcludedDeviceCount(unsigned* count) {
  return with_machine(Function::nvmlGetExcludedDeviceCount, [=](Machine&) { return give(count, 0); });
}

SLIPWAY_NVML_EXPORT nvmlGetBlacklistDeviceCount(unsigned* count) {
  return with_machine(Function::nvmlGetBlacklistDeviceCount, [=](Machine&) { return give(count, 0); });
}

SLIPWAY_NVML_EXPORT nvmlUnitGetCount(unsigned* count) {
  return with_machine(Function::nvmlUnitGetCount, [=](Machine&) { return give(count, 0); });
}

SLIPWAY_NVML_EXPORT nvmlSystemGetHicVersion(unsigned* count, void*) {
  return with_machine(Function::nvmlSystemGetHicVersion, [=](Machine&) { return give(count, 0); });
}
