// SPDX-License-Identifier: Apache-2.0
// NVLink and its fabric.
#include <cstring>

#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/handle.hpp"

namespace slipway::sim {
namespace {

/// `body(gpu)` for a link that the GPU has.
template <class Body>
nvmlReturn_t with_link(Function function, nvmlDevice_t device, unsigned link, Body body) {
  return with_gpu(function, device, [&](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.links == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= gpu.model.links) return NVML_ERROR_INVALID_ARGUMENT;
    return body(gpu);
  });
}

bool in_use(const Gpu& gpu, unsigned link) { return gpu.link_peers[link] != kNobody && gpu.mig_current == 0; }

nvmlReturn_t remote(Function function, nvmlDevice_t device, unsigned link, nvmlPciInfo_t* info) {
  return with_target(function, device, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (target.kind != Kind::gpu || info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (target.gpu->model.links == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= target.gpu->model.links) return NVML_ERROR_NOT_SUPPORTED;
    if (!in_use(*target.gpu, link)) return NVML_ERROR_NOT_SUPPORTED;
    memset(info, 0, sizeof *info);
    const std::int32_t peer = target.gpu->link_peers[link];
    if (peer == kSwitch) {  // the GPU knows nothing else about switches
      memcpy(info->busId, "00000000:00:00.0", 17);
      memcpy(info->busIdLegacy, "0000:00:00.0", 13);
    } else {
      write_pci_info(machine.gpus[peer], *info);
    }
    return NVML_SUCCESS;
  });
}

template <class Info>
void fill(Info* info, const Fabric& fabric) {
  memcpy(info->clusterUuid, fabric.cluster, sizeof fabric.cluster);
  info->status = static_cast<nvmlReturn_t>(fabric.status);
  info->cliqueId = fabric.clique;
  info->state = fabric.state;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, unsigned* active) {
  return with_link(Function::nvmlDeviceGetNvLinkState, device, link,
                   [=](Gpu& gpu) { return give(active, in_use(gpu, link) ? 1 : 0); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned* version) {
  return with_link(Function::nvmlDeviceGetNvLinkVersion, device, link,
                   [=](Gpu& gpu) { return give(version, gpu.model.link_version); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link, unsigned capability,
                                                  unsigned* has) {
  return with_link(Function::nvmlDeviceGetNvLinkCapability, device, link, [=](Gpu&) -> nvmlReturn_t {
    constexpr unsigned kSliBridge = 4;
    return capability > 5 ? static_cast<nvmlReturn_t>(NVML_ERROR_INVALID_ARGUMENT)
                          : give(has, capability == kSliBridge ? 0 : 1);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* info) {
  return remote(Function::nvmlDeviceGetNvLinkRemotePciInfo, device, link, info);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* info) {
  return remote(Function::nvmlDeviceGetNvLinkRemotePciInfo_v2, device, link, info);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link, unsigned* type) {
  return with_link(Function::nvmlDeviceGetNvLinkRemoteDeviceType, device, link, [=](Gpu& gpu) -> nvmlReturn_t {
    enum : unsigned { kGpu = 0, kNvSwitch = 2 };  // nvmlIntNvLinkDeviceType_t
    if (!in_use(gpu, link)) return NVML_ERROR_NOT_SUPPORTED;
    return give(type, gpu.link_peers[link] == kSwitch ? kNvSwitch : kGpu);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned link, unsigned,
                                                    unsigned long long* count) {
  return with_link(Function::nvmlDeviceGetNvLinkErrorCounter, device, link, [=](Gpu&) { return give(count, 0); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* info) {
  return with_gpu(Function::nvmlDeviceGetGpuFabricInfo, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.architecture < 9 || gpu.model.links == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    fill(info, gpu.fabric);
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfo_v3_t* info) {
  return with_target(Function::nvmlDeviceGetGpuFabricInfoV, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.gpu->model.architecture < 9 || target.gpu->model.links == 0)
                         return NVML_ERROR_NOT_SUPPORTED;
                       if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       const bool third = info->version == NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3);
                       const bool second = info->version == NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2);
                       if ((!third || machine.driver_branch < 580) && !second)
                         return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                       fill(info, target.gpu->fabric);
                       info->healthMask = target.gpu->fabric.health_mask;
                       if (third) info->healthSummary = 1;
                       return NVML_SUCCESS;
                     });
}
