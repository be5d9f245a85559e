// SPDX-License-Identifier: Apache-2.0
// The place of a GPU: PCI, topology, affinity, peers.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/handle.hpp"

namespace slipway::sim {
namespace {

enum : unsigned { kSameGpu = 0, kSameBridge = 10, kSameNode = 40, kSameSystem = 50 };  // nvmlGpuTopologyLevel_t
enum : unsigned { kPeerOk = 0, kPeerNotSupported = 5, kPeerNvlink = 2 };

nvmlReturn_t pci_info(Function function, nvmlDevice_t device, nvmlPciInfo_t* info) {
  return with_any_device(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    write_pci_info(gpu, *info);
    return NVML_SUCCESS;
  });
}

unsigned distance(const Gpu& one, const Gpu& other) {
  if (&one == &other) return kSameGpu;
  if (one.pcie_switch >= 0 && one.pcie_switch == other.pcie_switch) return kSameBridge;
  return one.numa_node == other.numa_node ? kSameNode : kSameSystem;
}

/// Reports sixteen processors for each NUMA node, or for the machine if the node is unknown.
void give_cpus(const Gpu& gpu, unsigned words, unsigned long* set) {
  constexpr unsigned kPerNode = 16;
  memset(set, 0, words * sizeof *set);
  const unsigned first = gpu.numa_node < 0 ? 0 : static_cast<unsigned>(gpu.numa_node) * kPerNode;
  for (unsigned cpu = first; cpu < first + kPerNode; ++cpu)
    if (cpu / 64 < words) set[cpu / 64] |= 1UL << (cpu % 64);
}

nvmlReturn_t cpus(Function function, nvmlDevice_t device, unsigned words, unsigned long* set) {
  return with_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (words == 0 || set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    give_cpus(gpu, words, set);
    return NVML_SUCCESS;
  });
}

/// `body(machine, gpu, other)` for two whole GPUs.
template <class Body>
nvmlReturn_t with_two(Function function, nvmlDevice_t one, nvmlDevice_t two, Body body) {
  return with_target(function, one, [&](Machine& machine, const Target& first) -> nvmlReturn_t {
    const Target second = find_target(machine, two);
    if (first.kind != Kind::gpu || second.kind != Kind::gpu) return NVML_ERROR_INVALID_ARGUMENT;
    return body(machine, *first.gpu, *second.gpu);
  });
}

/// True when NVLinks connect them directly, or both are connected to the switches that join all GPUs.
bool joined(const Machine& machine, const Gpu& one, const Gpu& other) {
  if (one.model.links == 0 || other.model.links == 0 || one.mig_current != 0 || other.mig_current != 0) return false;
  const auto reaches = [&one](std::int32_t peer) {
    return std::find(one.link_peers, one.link_peers + one.model.links, peer) != one.link_peers + one.model.links;
  };
  return reaches(kSwitch) || reaches(static_cast<std::int32_t>(&other - machine.gpus));
}

}  // namespace

void write_pci_info(const Gpu& gpu, nvmlPciInfo_t& info) {
  memset(&info, 0, sizeof info);
  snprintf(info.busIdLegacy, sizeof info.busIdLegacy, "%04X:%02X:%02X.0", gpu.domain & 0xffffU, gpu.bus & 0xffU,
           gpu.device & 0xffU);
  snprintf(info.busId, sizeof info.busId, "%08X:%02X:%02X.0", gpu.domain, gpu.bus & 0xffU, gpu.device & 0xffU);
  info.domain = gpu.domain;
  info.bus = gpu.bus;
  info.device = gpu.device;
  info.pciDeviceId = gpu.pci_id;
  info.pciSubSystemId = gpu.subsystem_id;
}

}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return pci_info(Function::nvmlDeviceGetPciInfo, device, info);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return pci_info(Function::nvmlDeviceGetPciInfo_v2, device, info);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return pci_info(Function::nvmlDeviceGetPciInfo_v3, device, info);
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_v1_t* info) {
  return with_any_device(Function::nvmlDeviceGetPciInfoExt, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (info->version != NVML_STRUCT_VERSION(nvmlPciInfoExt_v1_t, 1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    info->domain = gpu.domain;
    info->bus = gpu.bus;
    info->device = gpu.device;
    info->pciDeviceId = gpu.pci_id;
    info->pciSubSystemId = gpu.subsystem_id;
    info->baseClass = gpu.device_class >> 16U;
    info->subClass = (gpu.device_class >> 8U) & 0xffU;
    snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", gpu.domain, gpu.bus & 0xffU, gpu.device & 0xffU);
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetBusType(nvmlDevice_t device, unsigned* type) {
  return with_gpu(Function::nvmlDeviceGetBusType, device, [=](Gpu&) { return give(type, 2); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return with_gpu(Function::nvmlDeviceGetMaxPcieLinkGeneration, device,
                  [=](Gpu& gpu) { return give(generation, gpu.model.pcie_generation); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return with_gpu(Function::nvmlDeviceGetGpuMaxPcieLinkGeneration, device,
                  [=](Gpu& gpu) { return give(generation, gpu.model.pcie_generation); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return with_gpu(Function::nvmlDeviceGetCurrPcieLinkGeneration, device,
                  [=](Gpu& gpu) { return give(generation, gpu.load_percent > 0 ? gpu.model.pcie_generation : 1); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return with_gpu(Function::nvmlDeviceGetMaxPcieLinkWidth, device,
                  [=](Gpu& gpu) { return give(width, gpu.model.pcie_width); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return with_gpu(Function::nvmlDeviceGetCurrPcieLinkWidth, device,
                  [=](Gpu& gpu) { return give(width, gpu.model.pcie_width); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned, unsigned* kilobytes) {
  return with_gpu(Function::nvmlDeviceGetPcieThroughput, device,
                  [=](Gpu& gpu) { return give(kilobytes, gpu.load_percent * 10240U); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* count) {
  return with_gpu(Function::nvmlDeviceGetPcieReplayCounter, device, [=](Gpu&) { return give(count, 0); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned* node) {
  return with_gpu(Function::nvmlDeviceGetNumaNodeId, device, [=](Gpu& gpu) -> nvmlReturn_t {
    return gpu.numa_node < 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED) : give(node, gpu.numa_node);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words, unsigned long* set) {
  return cpus(Function::nvmlDeviceGetCpuAffinity, device, words, set);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words, unsigned long* set,
                                                        unsigned) {
  return cpus(Function::nvmlDeviceGetCpuAffinityWithinScope, device, words, set);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned words, unsigned long* set, unsigned) {
  return with_gpu(Function::nvmlDeviceGetMemoryAffinity, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (words == 0 || set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    memset(set, 0, words * sizeof *set);
    set[0] = 1UL << (gpu.numa_node < 0 ? 0 : static_cast<unsigned>(gpu.numa_node) % 64U);
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t two, unsigned* level) {
  return with_two(
      Function::nvmlDeviceGetTopologyCommonAncestor, one, two,
      [=](const Machine&, const Gpu& first, const Gpu& second) { return give(level, distance(first, second)); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, unsigned level, unsigned* count,
                                                     nvmlDevice_t* list) {
  return with_target(Function::nvmlDeviceGetTopologyNearestGpus, device, [=](Machine& machine, const Target& target) {
    unsigned near[kMaxGpus];
    unsigned existing = 0;
    for (unsigned i = 0; i < machine.gpu_count; ++i)
      if (i != target.gpu_index && distance(*target.gpu, machine.gpus[i]) == level) near[existing++] = i;
    return give_list(count, list, existing,
                     [&](unsigned i) { return static_cast<nvmlDevice_t>(make_handle(machine, Kind::gpu, near[i])); });
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceOnSameBoard(nvmlDevice_t one, nvmlDevice_t two, int* same) {
  return with_two(Function::nvmlDeviceOnSameBoard, one, two, [=](const Machine&, const Gpu& first, const Gpu& second) {
    return give(same, &first == &second ? 1 : 0);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t two, unsigned what, unsigned* status) {
  return with_two(Function::nvmlDeviceGetP2PStatus, one, two,
                  [=](const Machine& machine, const Gpu& first, const Gpu& second) -> nvmlReturn_t {
                    if (&first == &second) return NVML_ERROR_INVALID_ARGUMENT;
                    const bool near = what != kPeerNvlink && first.numa_node == second.numa_node;
                    return give(status, near || joined(machine, first, second) ? kPeerOk : kPeerNotSupported);
                  });
}
