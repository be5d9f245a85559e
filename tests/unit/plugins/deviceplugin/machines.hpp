// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/deviceplugin/machines.hpp - GPUs to make resources of.
#pragma once

#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin::testing {

inline Gpu gpu(unsigned index, const std::string& product = "NVIDIA H100 80GB HBM3") {
  Gpu made;
  made.uuid = "GPU-" + std::to_string(index);
  made.index = index;
  made.minor = index;
  made.address = "0000:0" + std::to_string(index) + ":00.0";
  made.product = product;
  made.numa_node = static_cast<int>(index / 4);
  made.compute_major = 9;
  return made;
}

inline std::vector<Gpu> gpus(unsigned count) {
  std::vector<Gpu> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(gpu(i));
  return all;
}

inline Gpu mig_gpu(unsigned index, const std::vector<std::string>& profiles) {
  Gpu made = gpu(index);
  made.mig_enabled = true;
  for (unsigned i = 0; i < profiles.size(); ++i) {
    MigDevice device;
    device.uuid = "MIG-" + std::to_string(index) + "-" + std::to_string(i);
    device.index = i;
    device.gpu_instance = i + 1;
    device.profile = profiles[i];
    device.paths = {"/dev/nvidia-caps/nvidia-cap" + std::to_string(10 * index + i)};
    made.mig_devices.push_back(device);
  }
  return made;
}

/// Returns the settings of a config text; for an invalid one the defaults, so that the test fails later.
inline Result<Settings> settings_of(const std::string& yaml) {
  Settings settings;
  SLIPWAY_TRY(node, node_from_yaml(yaml, "config.yaml", settings.warnings));
  SLIPWAY_CHECK(take_config(node, settings));
  SLIPWAY_CHECK(check_settings(settings));
  return settings;
}

inline Result<Resources> resources_of(const std::vector<Gpu>& gpus, const std::string& yaml) {
  SLIPWAY_TRY(settings, settings_of(yaml));
  Remarks remarks;
  return make_resources(gpus, settings, remarks);
}

/// Returns lines "nvidia.com/gpu: GPU-0 GPU-1".
inline std::string text_of(const Result<Resources>& resources) {
  if (!resources) return resources.error().where + ": " + resources.error().what;
  std::string text;
  for (const auto& [name, resource] : *resources) {
    text += name + ":";
    for (const Id& id : resource.ids) text += " " + id.id;
    text += "\n";
  }
  return text;
}

}  // namespace slipway::deviceplugin::testing
