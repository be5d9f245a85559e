// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/validate.hpp - the rules of the CDI specification: what engines refuse is refused here first.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// Starts with a letter, ends with a letter or digit, and has only those, '_', '-' and '.' between.
bool is_vendor_or_class(std::string_view text);
/// Starts and ends with a letter or digit, and has only those, '_', '-', '.' and ':' between.
bool is_device_name(std::string_view text);

/// All rules on one spec. @param where  file name for messages, may be empty
/// Errors: `invalid`; the first broken rule with the member that breaks it ("devices[2].containerEdits.env[0]"), the
/// others as details "also".
Status validate(const Spec& spec, const std::string& where);

}  // namespace slipway::nvidia::cdi
