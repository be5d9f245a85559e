// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kOtherDriver = "other-driver";
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

Error unknown(const std::string& awaits) {
  return {ErrorCode::plugin_defect, fmt::format("the component driver has no custom action '{}'", awaits), {}, {}, {}};
}

}  // namespace

bool bound_to_other_driver(const HostFacts& facts) { return gpu_of_other_driver(facts) != nullptr; }

Action reboot_for_other_driver() { return make("nouveau", {{"awaits", kOtherDriver}}); }

Result<bool> check_reboot(const Action& action, const Host& host) {
  const std::string awaits = action.value("data").value("awaits", "");
  if (awaits == kNothing) return true;
  if (awaits == kOtherDriver) return !bound_to_other_driver(read_host_facts(host));
  return unknown(awaits);
}

Result<Outcome> apply_reboot(const Action& action, const Host& host) {
  SLIPWAY_TRY(holds, check_reboot(action, host));
  if (holds) return Outcome::already_done();
  const auto facts = read_host_facts(host);
  const auto* gpu = gpu_of_other_driver(facts);
  if (gpu == nullptr) return Outcome::already_done();
  return Outcome::reboot_required(
      fmt::format("{} holds {} at {}; it is blacklisted from the next boot on", gpu->driver, gpu->name, gpu->address));
}

}  // namespace slipway::driver
