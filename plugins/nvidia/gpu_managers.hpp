// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpu_managers.hpp - the program that allocates a GPU: the device plugin, a DRA driver, VFIO or none.
//
// /etc/slipway/gpu-managers.json, written by the device plugin's plan and read by the programs that manage GPUs:
//   {"apiVersion": "slipway.dev/v1", "kind": "GpuManagers", "default": "deviceplugin",
//    "gpus": {"0000:65:00.0": "dra", "GPU-5d1f…": "vfio"}}
// A GPU is named by PCI address or UUID; one that is not named has the default manager. No entry expires.
#pragma once

#include <map>
#include <string>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia {

inline constexpr const char* kManagersFile = "/etc/slipway/gpu-managers.json";
inline constexpr const char* kDevicePlugin = "deviceplugin";

struct GpuManagers {
  std::string otherwise = kDevicePlugin;
  std::map<std::string, std::string> of;  ///< manager by PCI address or UUID

  const std::string& manager_of(const std::string& address, const std::string& uuid) const;
};

/// Without a file the device plugin manages all GPUs. Errors: `corrupt` the file has another form.
Result<GpuManagers> read_gpu_managers(const Host& host);
Json to_json(const GpuManagers& managers);

}  // namespace slipway::nvidia
