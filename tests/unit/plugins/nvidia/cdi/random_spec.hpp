// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/nvidia/cdi/random_spec.hpp - valid CDI specs of every shape, the same for the same seed.
#pragma once

#include <random>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// Returns a spec that follows all rules, with the smallest version that fits. Its texts contain characters that are
/// special in YAML.
Spec random_spec(std::mt19937& random);

}  // namespace slipway::nvidia::cdi
