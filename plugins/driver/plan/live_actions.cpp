// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "driver/plan/module_parameters.hpp"
#include "driver/plan/plan.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kFirstModule = "nvidia";

std::vector<unsigned> gpu_minors(const HostFacts& facts) {
  if (facts.loaded && !facts.gpu_minors.empty()) return facts.gpu_minors;
  // Before the driver is loaded: the driver will number its GPUs in the order of their addresses.
  std::vector<unsigned> minors;
  for (unsigned minor = 0; minor < facts.usable_gpus().size() && minor <= nvidia::kMaxGpuMinor; ++minor)
    minors.push_back(minor);
  return minors;
}

void add_nodes(const Settings& settings, const HostFacts& facts, const std::vector<std::string>& modules, Plan& plan) {
  if (nodes_are_left_alone(settings.parameters)) {
    plan.note("NVreg_ModifyDeviceFiles=0: you have to make the device nodes");
    return;
  }
  const unsigned mode = device_file_mode(settings.parameters, nvidia::kNodeMode);
  for (const auto& node : nvidia::control_nodes(modules, mode)) plan.add(action::device_node(node));
  if (std::ranges::count(modules, "nvidia") == 0) return;
  for (const unsigned minor : gpu_minors(facts)) plan.add(action::device_node(nvidia::gpu_node(minor, mode)));
}

}  // namespace

void add_live_actions(const Settings& settings, const HostFacts& facts, const Target& target,
                      const WantedDriver& wanted, Plan& plan) {
  // Loading is not tried: NVIDIA's module would find no device, and the failed apply would remove the blacklist again.
  if (const auto driver = kernel_driver_that_holds_a_gpu(facts); target.live && !driver.empty()) {
    plan.add(reboot_for_other_driver(driver, settings.blacklist_nouveau));
    plan.note(fmt::format("the kernel's own driver ({}) holds a GPU; the modules are loaded after the reboot", driver));
    return;
  }
  const bool of_kernel_change = !facts.changed_kernel.empty();  // which leaves the loaded driver alone
  if (!of_kernel_change) add_release(settings, facts, target, wanted, plan);
  // The other modules need the first module, and are loaded and unloaded with it.
  for (const auto& module : settings.load)
    plan.add(action::kernel_module(module, {}, module == kFirstModule ? wanted.version : ""));
  add_nodes(settings, facts, settings.load, plan);
  if (!of_kernel_change) add_resumption(settings, facts, target, wanted, plan);
}

}  // namespace slipway::driver
