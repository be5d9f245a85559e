// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/detect/kernel_driver.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kOtherDriver = "other-driver";
constexpr const char* kKernel = "kernel";
constexpr const char* kNothing = "nothing";

const nvidia::Gpu* gpu_of_other_driver(const HostFacts& facts) {
  const auto bound = std::ranges::find_if(facts.gpus, [](const auto& gpu) { return is_kernel_driver(gpu.driver); });
  return bound == facts.gpus.end() ? nullptr : &*bound;
}

// There is nothing to undo: this action does not change the running kernel. The next boot loads the modules and creates
// the device nodes, so the machine needs slipway-boot.service as if it had them now.
Action make(Json data, std::string summary) {
  const Action reboot = action::custom({.name = "reboot",
                                        .data = std::move(data),
                                        .inverse = {{"awaits", kNothing}},
                                        .irreversible = {},
                                        .summary = std::move(summary),
                                        .removal_summary = "stop waiting for a reboot",
                                        .lost_at_boot = true,
                                        .interrupts = "reboot"});
  Json waiting = reboot.json();
  waiting["only_waits"] = true;  // it changes nothing, so nothing waits for missing hardware
  return Action(std::move(waiting));
}

std::vector<std::string> awaited_kernels(const Action& action) {
  return action.value("data").value("kernels", std::vector<std::string>{});
}

Error unknown(const std::string& awaits) {
  return {ErrorCode::plugin_defect, fmt::format("the component driver has no custom action '{}'", awaits), {}, {}, {}};
}

}  // namespace

std::string kernel_driver_that_holds_a_gpu(const HostFacts& facts) {
  const auto* gpu = gpu_of_other_driver(facts);
  return gpu == nullptr ? std::string{} : kernel_driver_module(gpu->driver);
}

Action reboot_for_other_driver(const std::string& driver, bool blacklisted) {
  return make({{"awaits", kOtherDriver}, {"blacklisted", blacklisted}}, fmt::format("reboot: {} holds a GPU", driver));
}

Action reboot_into(const std::vector<std::string>& kernels) {
  return make({{"awaits", kKernel}, {"kernels", kernels}},
              fmt::format("reboot into kernel {}", fmt::join(kernels, " or ")));
}

Result<bool> check_reboot(const Action& action, const Host& host) {
  const std::string awaits = action.value("data").value("awaits", "");
  if (awaits == kNothing) return true;
  if (awaits == kOtherDriver) return gpu_of_other_driver(read_host_facts(host)) == nullptr;
  if (awaits == kKernel) return std::ranges::count(awaited_kernels(action), running_kernel(host)) != 0;
  return unknown(awaits);
}

Result<Outcome> apply_reboot(const Action& action, const Host& host) {
  SLIPWAY_TRY(holds, check_reboot(action, host));
  if (holds) return Outcome::already_done();
  if (const auto kernels = awaited_kernels(action); !kernels.empty())
    return Outcome::reboot_required(fmt::format("kernel {} runs, and the driver's modules are for {}",
                                                running_kernel(host), fmt::join(kernels, " and ")));
  const auto facts = read_host_facts(host);
  const auto* gpu = gpu_of_other_driver(facts);
  if (gpu == nullptr) return Outcome::already_done();
  const bool blacklisted = action.value("data").value("blacklisted", true);
  return Outcome::reboot_required(fmt::format(
      "the kernel's own driver ({}) holds {} at {}; {}", kernel_driver_module(gpu->driver), gpu->name, gpu->address,
      blacklisted ? "it is blacklisted from the next boot on"
                  : "with blacklist_nouveau: false, you have to keep it away yourself"));
}

}  // namespace slipway::driver
