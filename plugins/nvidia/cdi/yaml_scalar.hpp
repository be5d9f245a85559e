// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/yaml_scalar.hpp - how YAML sees a plain scalar, and how a text is written so that it stays a text.
#pragma once

#include <string>
#include <string_view>

namespace slipway::nvidia::cdi {

/// A YAML 1.1 or 1.2 reader takes the plain scalar for something other than a text: number (base 60 too), boolean,
/// null, time stamp, merge key.
bool reads_as_other_than_text(std::string_view scalar);

/// The text as a scalar in block context: plain where that is allowed, else quoted.
std::string yaml_text(std::string_view text);

}  // namespace slipway::nvidia::cdi
