// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/target.hpp - a GPU and its target.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// Stored as JSON in the data of a custom action.
struct Target {
  std::string address;
  std::string uuid;
  bool enabled = false;
  Instances instances;
  /// The devices, if the GPU reports its profiles only when MIG is enabled; `instances` is then empty.
  Counts unplaced;
  std::string where;  ///< position of the config's entry, for messages
};

Json to_json(const Target& target);
Result<Target> target_from_json(const Json& value);

/// Returns the current state of the GPU as a target.
Target present(const Gpu& gpu);

/// True when mode and devices are equal, at any places.
bool matches_target(const Gpu& gpu, const Target& target);

}  // namespace slipway::mig
