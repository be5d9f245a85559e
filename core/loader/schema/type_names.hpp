// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/type_names.hpp - names of schema types, and descriptions of values of a wrong type.
#pragma once

#include <string>
#include <string_view>

#include "base/yaml/tree.hpp"
#include "core/loader/schema/schema_key.hpp"

namespace slipway::core {

/// The name in the manifest: "string", "enum", "artifact-source", …
std::string_view type_name(SchemaKey::Type type);
/// The names of all types, in the order of the enumeration.
const std::vector<std::string>& type_names();

/// Describes valid values: "a string", "one of auto, open and proprietary", "a list".
std::string expected(const SchemaKey& schema);

/// Describes the limits: "1 to 64", "at least 1", for a list or map "at most 64 elements"; empty when there are none.
std::string bounds(const SchemaKey& schema);

/// Describes the value found: "a list", "nothing", "the quoted text \"1\"", "'abc'"; cuts long texts.
std::string found(const base::YamlNode& node);
/// The same without any of its text, for a value that may be a secret.
std::string found_kind(const base::YamlNode& node);

}  // namespace slipway::core
