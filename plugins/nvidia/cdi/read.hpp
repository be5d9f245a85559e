// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/read.hpp - reads a CDI spec, YAML or JSON, as strictly as engines do.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// The largest text that is read: about ten times the spec of sixteen GPUs with all their MIG devices.
inline constexpr std::size_t kMaxSpecBytes = 16U << 20U;

/// The spec that a text says; the rules of validate() are not checked.
/// @param where  file name for messages
/// Errors: `invalid` with WHERE:LINE:COLUMN: no YAML, an unknown or repeated member, a value of another type, more than
/// one document.
Result<Spec> parse(std::string_view text, const std::string& where);

/// parse() and validate().
Result<Spec> parse_and_validate(std::string_view text, const std::string& where);

}  // namespace slipway::nvidia::cdi
