// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/holders.hpp"
#include "nvidia/drain/terminate.hpp"

namespace slipway::nvidia::drain {
namespace {

std::string terminate_text(const Host& host, const std::vector<DeviceHolder>& holders) {
  const std::vector<Remaining> left = find_unendable(host, holders);
  if (left.empty()) return "an apply ends it";
  return "an apply fails, since it cannot end " + to_text(left.front().holder) + ": " + left.front().why;
}

}  // namespace

std::string effect_text(const Host& host, const std::vector<DeviceHolder>& holders, const Settings& settings) {
  const std::string policy = " (drain: " + to_string(settings.policy) + ")";
  switch (settings.policy) {
    case Policy::terminate:
      return terminate_text(host, holders) + policy;
    case Policy::wait:
    case Policy::when_idle:
      return "an apply waits until that has ended" + policy;
    default:
      return "an apply fails until that has ended" + policy;
  }
}

}  // namespace slipway::nvidia::drain
