// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/nearness.cpp - the nearness of GPUs, read from NVML once and kept.
#include <algorithm>
#include <map>

#include "deviceplugin/devices/inventory.hpp"
#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/device.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

// The scale of go-gpuallocator, which users know: 10 to 60 for the PCI tree, 100 for each NVLink.
constexpr unsigned kPerLink = 100;
constexpr unsigned kMostLinks = 36;
constexpr unsigned kRemoteIsSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH

unsigned pci_score(unsigned level) {
  switch (level) {
    case 0:
      return 60;  // same board
    case 10:
      return 50;  // one PCIe switch
    case 20:
      return 40;  // several switches
    case 30:
      return 30;  // same host bridge
    case 40:
      return 20;  // same NUMA node
    default:
      return 10;
  }
}

/// The targets of a GPU's NVLinks.
struct Links {
  unsigned to_switch = 0;
  std::map<std::string, unsigned> to_gpu;  ///< by PCI address
};

nvml::Answer<unsigned> link_number(nvml::Nvml& library, const char* function, nvmlDevice_t gpu, unsigned link) {
  return library.ask<unsigned>([function, gpu, link](const nvml::Library& open, unsigned& value) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned, unsigned*>(function), gpu, link, &value);
  });
}

nvml::Answer<nvmlPciInfo_t> link_remote(nvml::Nvml& library, nvmlDevice_t gpu, unsigned link) {
  return library.ask<nvmlPciInfo_t>([gpu, link](const nvml::Library& open, nvmlPciInfo_t& info) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned, nvmlPciInfo_t*>(
                            {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"}),
                        gpu, link, &info);
  });
}

Links links_of(nvml::Nvml& library, nvmlDevice_t gpu) {
  Links links;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    const auto active = link_number(library, "nvmlDeviceGetNvLinkState", gpu, link);
    if (!active) break;  // no such link, no links at all, or no answer: stop here
    if (*active == 0) continue;
    const auto type = link_number(library, "nvmlDeviceGetNvLinkRemoteDeviceType", gpu, link);
    const auto remote = link_remote(library, gpu, link);
    if (type && *type == kRemoteIsSwitch)
      ++links.to_switch;
    else if (remote)
      ++links.to_gpu[nvml::sysfs_address(remote->busId)];
  }
  return links;
}

Links read_links(nvml::Nvml& library, nvmlDevice_t gpu) {
  return library
      .ask_together<Links>([gpu](nvml::Nvml& inside, Links& links) {
        links = links_of(inside, gpu);
        return NVML_SUCCESS;
      })
      .value_or({});
}

/// Returns the lowest common level in the PCI tree of one GPU and each of the others, which may lack handles.
std::vector<unsigned> common_ancestors(nvml::Nvml& library, nvmlDevice_t one, const std::vector<nvmlDevice_t>& others) {
  constexpr unsigned kSystem = 50;
  return library
      .ask<std::vector<unsigned>>([one, others](const nvml::Library& open, std::vector<unsigned>& levels) {
        const auto ancestor =
            open.function<nvmlDevice_t, nvmlDevice_t, unsigned*>("nvmlDeviceGetTopologyCommonAncestor");
        for (nvmlDevice_t const other : others) {
          unsigned level = kSystem;
          if (other != nullptr && nvml::invoke(ancestor, one, other, &level) != NVML_SUCCESS) level = kSystem;
          levels.push_back(level);
        }
        return NVML_SUCCESS;
      })
      .value_or(std::vector<unsigned>(others.size(), kSystem));
}

/// Direct links count one by one; through NVSwitches every GPU reaches every other, over as many links as the GPU with
/// fewer links has.
unsigned link_score(const Links& one, const Links& other, const Gpu& gpu, const Gpu& peer) {
  const auto count = [](const Links& links, const std::string& address) {
    const auto found = links.to_gpu.find(address);
    return found == links.to_gpu.end() ? 0U : found->second;
  };
  const unsigned direct = std::max(count(one, peer.address), count(other, gpu.address));
  return kPerLink * std::max(direct, std::min(one.to_switch, other.to_switch));
}

}  // namespace

Nearness read_nearness(nvml::Nvml& library, const std::vector<Gpu>& gpus) {
  Nearness nearness(gpus.size());
  std::vector<nvmlDevice_t> handles;
  std::vector<Links> links;
  for (const Gpu& gpu : gpus) {
    const auto handle = nvml::device_by_uuid(library, gpu.uuid);
    handles.push_back(handle.value_or(nullptr));
    links.push_back(handle ? read_links(library, *handle) : Links());
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (handles[i] == nullptr) continue;
    const std::vector<nvmlDevice_t> later(handles.begin() + static_cast<std::ptrdiff_t>(i) + 1, handles.end());
    const std::vector<unsigned> levels = common_ancestors(library, handles[i], later);
    for (std::size_t j = i + 1; j < gpus.size(); ++j)
      if (handles[j] != nullptr)
        nearness.set(i, j, pci_score(levels[j - i - 1]) + link_score(links[i], links[j], gpus[i], gpus[j]));
  }
  return nearness;
}

}  // namespace slipway::deviceplugin
