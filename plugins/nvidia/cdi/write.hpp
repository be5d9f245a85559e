// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/write.hpp - a CDI spec as text, in the form and field order of NVIDIA's own generator.
#pragma once

#include <string>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// A line "---", four spaces of indentation per level, lists indented too.
std::string to_yaml(const Spec& spec);
/// Compact, without a final newline.
std::string to_json_text(const Spec& spec);

}  // namespace slipway::nvidia::cdi
