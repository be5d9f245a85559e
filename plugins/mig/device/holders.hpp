// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/holders.hpp - who uses what a change would take away.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "mig/layout/target.hpp"
#include "nvidia/drain/holders.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// A GPU that is to change.
struct Changing {
  nvmlDevice_t device = nullptr;
  const Gpu* gpu = nullptr;  ///< as it is now
  const Target* target = nullptr;
  bool with_daemons = false;  ///< as in drain::Affected
};

/// Which pods have what, by kubelet's word at that socket in the host's root. Nobody is asked where it is empty, nor at
/// a boot, before which all pods have ended.
nvidia::drain::Given ask_kubelet(const Host& host, const std::string& socket);

/// Of each: who has the instances that the target takes away; everybody on the GPU where its mode changes.
std::vector<std::vector<nvidia::drain::DeviceHolder>> find_holders(nvidia::nvml::Nvml& nvml, const Host& host,
                                                                   const std::vector<Changing>& changing,
                                                                   const nvidia::drain::Given& given);
/// "GPU 3 (0000:65:00.0) is in use, so its layout was left as it was (7 x 1g.10gb)"
std::string in_use_text(const Gpu& gpu);

}  // namespace slipway::mig
