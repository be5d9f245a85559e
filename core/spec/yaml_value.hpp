// SPDX-License-Identifier: Apache-2.0
// core/spec/yaml_value.hpp - writes values as YAML on one line, and makes first values for keys from their schemas.
#pragma once

#include <string>

#include <slipway/json.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// A value in flow style: auto, "535.10", [a, b], {key: 1}. Reads back as the same value, with or without a schema.
std::string flow_yaml(const Json& value);

/// A schema's example as the value that it stands for; null when it has none.
Json example_value(const SchemaKey& schema);

/// A value that fits the schema: its default, its example, or one made up. Null when none can be made up (a text with
/// a pattern and without an example).
Json first_value(const SchemaKey& schema);

}  // namespace slipway::core
