// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/toml.hpp - TOML as container engines use it, read as JSON and written from it.
#pragma once

#include <string>
#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

/// Converts dates and times to texts. Errors: `invalid` with PATH:LINE:COLUMN.
Result<Json> parse_toml(std::string_view text, const std::string& path);

/// Writes each table of an object with a header, followed by its values; keys sorted, no indentation.
std::string to_toml(const Json& object);

}  // namespace slipway::toolkit
