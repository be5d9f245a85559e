// SPDX-License-Identifier: Apache-2.0
#include "sim/nvml/handle.hpp"

namespace slipway::sim {
namespace {

constexpr std::uint64_t kMark = 0x51de;

std::uint64_t serial_of(const Gpu& gpu, Kind kind, unsigned instance, unsigned compute) {
  if (kind == Kind::gpu) return 0;
  const GpuInstance& existing = gpu.instances[instance];
  return (kind == Kind::gpu_instance ? existing.serial : existing.compute[compute].serial) & 0xffffU;
}

}  // namespace

void* make_handle(const Machine& machine, Kind kind, unsigned gpu, unsigned instance, unsigned compute) {
  const std::uint64_t bits = kMark << 48U | std::uint64_t{machine.epoch & 0xffffU} << 32U |
                             serial_of(machine.gpus[gpu], kind, instance, compute) << 16U |
                             std::uint64_t{static_cast<std::uint32_t>(kind)} << 12U | std::uint64_t{gpu} << 8U |
                             std::uint64_t{instance} << 4U | std::uint64_t{compute};
  return reinterpret_cast<void*>(bits);
}

Target find_target(Machine& machine, const void* handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  Target target;
  if (bits >> 48U != kMark || ((bits >> 32U) & 0xffffU) != (machine.epoch & 0xffffU)) return target;
  const auto kind = static_cast<Kind>((bits >> 12U) & 0xfU);
  const auto gpu = static_cast<unsigned>((bits >> 8U) & 0xfU);
  const auto instance = static_cast<unsigned>((bits >> 4U) & 0xfU);
  const auto compute = static_cast<unsigned>(bits & 0xfU);
  if (gpu >= machine.gpu_count || instance >= kMaxInstances || compute >= kMaxInstances) return target;
  Gpu& existing = machine.gpus[gpu];
  if (existing.hidden != 0 || serial_of(existing, kind, instance, compute) != ((bits >> 16U) & 0xffffU)) return target;
  target.gpu_index = gpu;
  target.gpu = &existing;
  if (kind != Kind::gpu) {
    target.instance = &existing.instances[instance];
    if (target.instance->used == 0) return target;
  }
  if (kind == Kind::mig_device || kind == Kind::compute_instance) {
    target.compute = &target.instance->compute[compute];
    if (target.compute->used == 0) return target;
  }
  target.kind = kind;
  return target;
}

unsigned instance_slot(const Gpu& gpu, const GpuInstance* instance) {
  return static_cast<unsigned>(instance - &gpu.instances[0]);
}

unsigned compute_slot(const GpuInstance& instance, const ComputeInstance* compute) {
  return static_cast<unsigned>(compute - &instance.compute[0]);
}

}  // namespace slipway::sim
