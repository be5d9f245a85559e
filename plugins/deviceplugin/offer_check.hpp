// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/offer_check.hpp - judges a config by the GPUs of this machine as the service will: what that
// could not offer is told beforehand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

struct OfferCheck {
  bool is_known = false;             ///< the GPUs could be asked; else the rest is empty
  std::optional<Error> problem;      ///< the config is wrong for this machine. `not_found`: now, and another MIG layout
                                     ///< would do; else `invalid`
  std::vector<std::string> remarks;  ///< what is missing because GPUs are lost
};

/// Asks NVML, where the driver is loaded and the config has anything that depends on the GPUs.
OfferCheck check_offer(const nvidia::config::Settings& settings, const std::string& driver_root, const Host& host);

}  // namespace slipway::deviceplugin
