// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/managers.hpp - who hands a GPU out: this plugin, a DRA driver, VFIO or nobody.
//
// /etc/slipway/gpu-managers.json, written by the plan from the spec's `managers` and read by whoever manages GPUs:
//   {"apiVersion": "slipway.dev/v1", "kind": "GpuManagers", "default": "deviceplugin",
//    "gpus": {"0000:65:00.0": "dra", "GPU-5d1f…": "vfio"}}
// A GPU is named by PCI address or UUID; one that is not named has the default manager. No entry expires.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "deviceplugin/devices/inventory.hpp"

namespace slipway::deviceplugin {

inline constexpr const char* kManagersFile = "/etc/slipway/gpu-managers.json";
inline constexpr const char* kManager = "deviceplugin";

struct Managers {
  std::string otherwise = kManager;
  std::map<std::string, std::string> of;  ///< by PCI address or UUID
};

/// Without a file this plugin manages all. Errors: `corrupt` the file has not that form: then nothing may be handed
/// out.
Result<Managers> read_managers(const Host& host);
Json to_json(const Managers& managers);

/// Sets Gpu::offered.
void apply_managers(const Managers& managers, std::vector<Gpu>& gpus);

}  // namespace slipway::deviceplugin
