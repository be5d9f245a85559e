// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/parse.hpp - reads a schema from a manifest.
#pragma once

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// Reads one key's schema ({type: string, help: …}) and checks that it makes sense: default and example fit it,
/// nothing is given that its type has no use for. Everything wrong goes into `check`.
SchemaKey parse_schema(const YamlNode& node, const std::string& key, SchemaCheck& check);

/// Reads key names with their schemas: the `keys` of an object, the `spec` of a component.
std::map<std::string, SchemaKey> parse_schema_keys(const YamlNode& node, const std::string& key, SchemaCheck& check);

}  // namespace slipway::core
