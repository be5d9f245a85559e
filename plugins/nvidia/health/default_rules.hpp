// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/default_rules.hpp - rules.yaml as the build has read it: reading YAML took half of the time
// that a service takes to start.
#pragma once

#include <string_view>

namespace slipway::nvidia::health {

/// All scalars are texts, as rules.yaml has them.
std::string_view default_rules_json();

}  // namespace slipway::nvidia::health
