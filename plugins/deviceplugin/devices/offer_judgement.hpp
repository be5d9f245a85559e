// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/offer_judgement.hpp - decides whether the GPUs of a machine can be offered according to
// a config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"
#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

struct OfferCheck {
  bool is_known = false;             ///< the GPUs could be read
  std::optional<Error> problem;      ///< the config does not fit this machine. `not_found`: not now, but another MIG
                                     ///< layout
                                     ///< would fit; else `invalid`
  std::vector<std::string> remarks;  ///< what is missing because GPUs are lost
};

/// @param gpus    GPUs that answer; empty: nothing is known
/// @param absent  GPUs on the PCI bus that have not answered since the driver was loaded
OfferCheck judge_offer(const std::vector<Gpu>& gpus, const std::vector<AbsentGpu>& absent,
                       const nvidia::config::Settings& settings);

}  // namespace slipway::deviceplugin
