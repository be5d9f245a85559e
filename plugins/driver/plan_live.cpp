// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "driver/module_parameters.hpp"
#include "driver/plan.hpp"
#include "driver/reboot.hpp"
#include "nvidia/device_nodes.hpp"

namespace slipway::driver {
namespace {

std::vector<unsigned> gpu_minors(const HostFacts& facts) {
  if (facts.loaded && !facts.gpu_minors.empty()) return facts.gpu_minors;
  // Before the driver is loaded: it numbers the GPUs that it takes in the order of their addresses.
  std::vector<unsigned> minors;
  for (unsigned minor = 0; minor < facts.usable_gpus().size() && minor <= nvidia::kMaxGpuMinor; ++minor)
    minors.push_back(minor);
  return minors;
}

// Modules of the new version do not load on top of another one's; those that are there stay until the reboot.
std::vector<std::string> modules_to_load(const Settings& settings, const HostFacts& facts, const std::string& version) {
  if (!facts.loaded || facts.loaded->version == version) return settings.load;
  std::vector<std::string> modules;
  for (const auto& module : settings.load)
    if (std::ranges::count(facts.loaded->modules, module) != 0) modules.push_back(module);
  return modules;
}

void add_nodes(const Settings& settings, const HostFacts& facts, const std::vector<std::string>& modules, Plan& plan) {
  if (nodes_are_left_alone(settings.parameters)) {
    plan.note("NVreg_ModifyDeviceFiles=0: the device nodes are yours to make");
    return;
  }
  const unsigned mode = device_file_mode(settings.parameters, nvidia::kNodeMode);
  for (const auto& node : nvidia::control_nodes(modules, mode)) plan.add(action::device_node(node));
  if (std::ranges::count(modules, "nvidia") == 0) return;
  for (const unsigned minor : gpu_minors(facts)) plan.add(action::device_node(nvidia::gpu_node(minor, mode)));
}

}  // namespace

void add_live_actions(const Settings& settings, const HostFacts& facts, const Target& target,
                      const std::string& driver_version, Plan& plan) {
  if (facts.no_gpu_here()) {
    plan.note("no NVIDIA GPU can be seen, so no module is loaded and no device node made; a boot with one does both");
    return;
  }
  if (target.live && held_by_other_driver(facts)) {
    plan.add(reboot_for_other_driver());
    plan.note("nouveau holds a GPU; the modules are loaded after the reboot");
    return;
  }
  if (target.live && facts.loaded && facts.loaded->version != driver_version) {
    plan.add(reboot_for_version(driver_version));
    plan.note(
        fmt::format("driver {} is loaded; {} takes over with the next boot", facts.loaded->version, driver_version));
  }
  const auto modules = modules_to_load(settings, facts, driver_version);
  for (const auto& module : modules) plan.add(action::kernel_module(module));
  add_nodes(settings, facts, modules, plan);
}

}  // namespace slipway::driver
