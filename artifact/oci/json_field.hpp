// SPDX-License-Identifier: Apache-2.0
// artifact/oci/json_field.hpp - reading JSON that came from outside: bounded in depth, and no surprise of type
// throws.
#pragma once

#include <string>
#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Parses a JSON text. `what` names it in errors ("manifest sha256:…").
/// Errors: `invalid` when it is not JSON, is nested deeper than 64 levels, or an object has a key twice.
Result<Json> parse_json(std::string_view text, const std::string& what);

/// The string at `key`, or an empty one when there is none or it is of another type.
std::string text_at(const Json& object, const char* key);

/// The object or array at `key`, or an empty one when there is none or it is of another type. Lives as long as
/// `object`.
const Json& object_at(const Json& object, const char* key);
const Json& array_at(const Json& object, const char* key);

/// The true or false at `key`; false when there is none or it is of another type.
bool flag_at(const Json& object, const char* key);

}  // namespace slipway::artifact
