// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/type_names.hpp - the words for schema types and for what was found instead.
#pragma once

#include <string>
#include <string_view>

#include "base/yaml/tree.hpp"
#include "core/loader/schema/schema_key.hpp"

namespace slipway::core {

/// As the manifest writes it: "string", "enum", "artifact-source", …
std::string_view type_name(SchemaKey::Type type);
/// Every type's name, in the order of the enumeration.
const std::vector<std::string>& type_names();

/// What is expected: "a string", "one of auto, open and proprietary", "a list".
std::string expected(const SchemaKey& schema);

/// "1 to 64", "at least 1", of a list or map "at most 64 elements"; empty when there are none.
std::string bounds(const SchemaKey& schema);

/// What was found: "a list", "nothing", "the quoted text \"1\"", "'abc'"; long texts are cut.
std::string found(const YamlNode& node);
/// The same without any of its text, for what may be a secret.
std::string found_kind(const YamlNode& node);

}  // namespace slipway::core
