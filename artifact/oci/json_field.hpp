// SPDX-License-Identifier: Apache-2.0
// artifact/oci/json_field.hpp - reads untrusted JSON: limited in depth, and without exceptions for unexpected types.
#pragma once

#include <string>
#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Parses a JSON text. Errors call it `what` ("manifest sha256:…").
/// Errors: `invalid` when it is not JSON, is nested deeper than 64 levels, or an object has a key twice.
Result<Json> parse_json(std::string_view text, const std::string& what);

/// Returns the string at `key`; empty if it is missing or has another type.
std::string text_at(const Json& object, const char* key);

/// Returns the object or array at `key`; empty if it is missing or has another type. Valid as long as `object`.
const Json& object_at(const Json& object, const char* key);
const Json& array_at(const Json& object, const char* key);

/// Returns the boolean at `key`; false if not found or it has another type.
bool flag_at(const Json& object, const char* key);

}  // namespace slipway::artifact
