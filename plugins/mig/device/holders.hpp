// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/holders.hpp - the users of the instances that a change would remove.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "mig/layout/target.hpp"
#include "nvidia/drain/holders.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// A GPU that will change.
struct Changing {
  nvmlDevice_t device = nullptr;
  const Gpu* gpu = nullptr;  ///< as it is now
  const Target* target = nullptr;
  bool with_daemons = false;  ///< as in drain::Affected
};

/// Asks kubelet at that socket in the host's root which pods have which devices. Does not ask if the path is empty, nor
/// at a boot, because no pod survives a reboot.
nvidia::drain::PodHolders ask_kubelet(const Host& host, const std::string& socket);

/// Finds, for each GPU, the users of the instances that the target removes; all users of the GPU if its mode changes.
std::vector<std::vector<nvidia::drain::DeviceHolder>> find_holders(nvidia::nvml::Nvml& nvml, const Host& host,
                                                                   const std::vector<Changing>& changing,
                                                                   const nvidia::drain::PodHolders& given);
/// Returns "GPU 3 (0000:65:00.0) is in use, so its layout was left as it was (7 x 1g.10gb)"
std::string in_use_text(const Gpu& gpu);

}  // namespace slipway::mig
