// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/sharing.cpp - the config of NVIDIA's device plugin: YAML that says how GPUs are named, shared and offered.
#include <cstdint>

#include "deviceplugin/devices/resources.hpp"
#include "nvidia/config/config_choice.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;
using namespace slipway::deviceplugin;

/// Two GPUs, the second one with two MIG devices.
std::vector<Gpu> machine() {
  std::vector<Gpu> gpus(2);
  for (unsigned i = 0; i < 2; ++i) {
    gpus[i].uuid = "GPU-" + std::to_string(i);
    gpus[i].index = gpus[i].minor = i;
    gpus[i].product = "NVIDIA H100 80GB HBM3";
    gpus[i].memory_bytes = 80ULL << 30;
  }
  gpus[1].mig_enabled = true;
  for (unsigned i = 0; i < 2; ++i)
    gpus[1].mig_devices.push_back({.uuid = "MIG-" + std::to_string(i), .index = i, .profile = "1g.10gb", .paths = {}});
  return gpus;
}

void check_resources(const Settings& settings) {
  Remarks remarks;
  const auto resources = make_resources(machine(), settings, remarks);
  fuzz::demand_presentable(resources);
  if (!resources) return;
  for (const auto& [name, resource] : *resources)
    for (const Id& id : resource.ids) fuzz::demand(id.device < resource.devices.size(), "an id stands for a device");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto configs = split_configs(nvidia::config::read_config(text, "config.yaml"), text);
  fuzz::demand_presentable(configs);
  if (!configs) return 0;
  for (const auto& [name, config] : *configs) {
    Settings settings;
    if (config.problem) {
      fuzz::demand_presentable(*config.problem);
      continue;
    }
    const Status taken = take_config(config.node, settings);
    if (!taken) {
      fuzz::demand_presentable(taken.error());
      continue;
    }
    if (const Status good = check_settings(settings); !good)
      fuzz::demand_presentable(good.error());
    else
      check_resources(settings);
  }
  return 0;
}
