// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/target.hpp - a GPU and what it is to be.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

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

}  // namespace slipway::mig
