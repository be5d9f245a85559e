// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/fabric.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slipway::gfd {
namespace {

template <class Info>
Fabric fabric_of(const Info& info) {
  Fabric fabric{.state = info.state, .status = info.status, .clique = info.cliqueId};
  std::copy_n(info.clusterUuid, fabric.cluster.size(), fabric.cluster.begin());
  return fabric;
}

template <class Info>
nvmlReturn_t versioned(const nvidia::nvml::Library& library, nvmlDevice_t device, unsigned number, Fabric& fabric) {
  Info info{};
  info.version = static_cast<unsigned>(sizeof(Info)) | (number << 24U);
  // The function takes the type of the newest layout, and recognizes the layout by its first word.
  const nvmlReturn_t code =
      nvidia::nvml::invoke(library.function<nvmlDevice_t, nvmlGpuFabricInfo_v3_t*>("nvmlDeviceGetGpuFabricInfoV"),
                           device, reinterpret_cast<nvmlGpuFabricInfo_v3_t*>(&info));
  fabric = fabric_of(info);
  fabric.health_mask = info.healthMask;
  return code;
}

}  // namespace

nvidia::nvml::Answer<Fabric> fabric(nvidia::nvml::Nvml& nvml, nvmlDevice_t device) {
  return nvml.ask<Fabric>([device](const nvidia::nvml::Library& library, Fabric& fabric) {
    nvmlReturn_t code = versioned<nvmlGpuFabricInfo_v3_t>(library, device, 3, fabric);
    if (nvidia::nvml::try_older(code)) code = versioned<nvmlGpuFabricInfo_v2_t>(library, device, 2, fabric);
    if (!nvidia::nvml::try_older(code)) return code;
    nvmlGpuFabricInfo_t info{};
    code = nvidia::nvml::invoke(library.function<nvmlDevice_t, nvmlGpuFabricInfo_t*>("nvmlDeviceGetGpuFabricInfo"),
                                device, &info);
    fabric = fabric_of(info);
    return code;
  });
}

bool Fabric::attached() const {
  return state == NVML_GPU_FABRIC_STATE_COMPLETED && status == NVML_SUCCESS &&
         std::ranges::any_of(cluster, [](std::uint8_t byte) { return byte != 0; });
}

std::string Fabric::cluster_uuid() const {
  std::string text;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", cluster.at(i));
  }
  return text;
}

}  // namespace slipway::gfd
