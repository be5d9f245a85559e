// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/target.hpp - a GPU and what it is to be.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"
#include "nvidia/drain/holders.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// As JSON, part of the data of a custom action.
struct Target {
  std::string address;
  std::string uuid;
  bool enabled = false;
  Instances instances;
  /// The devices, where the GPU tells its profiles only once MIG is enabled: `instances` is empty then.
  Counts unplaced;
  std::string where;  ///< of the config's entry, for messages
};

Json to_json(const Target& target);
Result<Target> target_from_json(const Json& value);

/// What the GPU is now, as a target.
Target present(const Gpu& gpu);

/// Whether the GPU is that by meaning: equal mode and equal devices, wherever they lie.
bool is_so(const Gpu& gpu, const Target& target);

/// Finds the GPU, by its UUID. Errors: `not_found` it is not there any more.
Result<nvmlDevice_t> find_gpu(nvidia::nvml::Nvml& nvml, const Target& target);

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
std::vector<std::vector<nvidia::drain::Holder>> find_holders(nvidia::nvml::Nvml& nvml, const Host& host,
                                                             const std::vector<Changing>& changing,
                                                             const nvidia::drain::Given& given);
/// "GPU 3 (0000:65:00.0) is in use, so its layout was left as it was (7 x 1g.10gb)"
std::string in_use_text(const Gpu& gpu);

}  // namespace slipway::mig
