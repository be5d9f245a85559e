// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kOtherDriver = "other-driver";
constexpr const char* kKernel = "kernel";
constexpr const char* kNothing = "nothing";

bool is_other_driver(const std::string& driver) { return driver == "nouveau" || driver.starts_with("nova"); }

const nvidia::Gpu* gpu_of_other_driver(const HostFacts& facts) {
  const auto bound = std::ranges::find_if(facts.gpus, [](const auto& gpu) { return is_other_driver(gpu.driver); });
  return bound == facts.gpus.end() ? nullptr : &*bound;
}

// Undoing has nothing to undo: what runs in the kernel is not this action's work.
Action make(const char* name, Json data) {
  return action::custom({.name = name, .data = std::move(data), .inverse = {{"awaits", kNothing}}, .irreversible = {}});
}

std::vector<std::string> awaited_kernels(const Action& action) {
  return action.value("data").value("kernels", std::vector<std::string>{});
}

Error unknown(const std::string& awaits) {
  return {ErrorCode::plugin_defect, fmt::format("the component driver has no custom action '{}'", awaits), {}, {}, {}};
}

}  // namespace

bool bound_to_other_driver(const HostFacts& facts) { return gpu_of_other_driver(facts) != nullptr; }

Action reboot_for_other_driver() { return make("nouveau", {{"awaits", kOtherDriver}}); }

Action reboot_into(const std::vector<std::string>& kernels) {
  return make("kernel", {{"awaits", kKernel}, {"kernels", kernels}});
}

Result<bool> check_reboot(const Action& action, const Host& host) {
  const std::string awaits = action.value("data").value("awaits", "");
  if (awaits == kNothing) return true;
  if (awaits == kOtherDriver) return !bound_to_other_driver(read_host_facts(host));
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
  return Outcome::reboot_required(
      fmt::format("{} holds {} at {}; it is blacklisted from the next boot on", gpu->driver, gpu->name, gpu->address));
}

}  // namespace slipway::driver
