// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/nvidia/cdi/random_spec.hpp - valid CDI specs of every shape, the same for the same seed.
#pragma once

#include <random>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// A spec that keeps all rules, its version being the smallest that fits. Texts hold what YAML makes trouble with.
Spec random_spec(std::mt19937& random);

}  // namespace slipway::nvidia::cdi
