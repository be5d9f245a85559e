// SPDX-License-Identifier: Apache-2.0
// core/spec/yaml_value.hpp - a first host spec for `slipway init`, values as YAML, and the JSON Schema of a host spec
// for editors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "core/loader/manifest.hpp"
#include "core/spec/expected_gpus.hpp"

namespace slipway::core {

/// Writes a value in flow style: auto, "535.10", [a, b], {key: 1}. It reads back as the same value, with or without a
/// schema.
std::string flow_yaml(const Json& value);

/// The value that a schema's example stands for; null when it has none.
Json example_value(const SchemaKey& schema);

/// Returns a valid value: the schema's default, its example, or an invented one. Null when none can be invented (a text
/// with a pattern and without an example).
Json first_value(const SchemaKey& schema);

/// Returns the text of a host spec with these components. Suggested values are used as they are, unless they do not
/// match the schema. A required key without one gets its example and a remark that it must be changed. Optional keys
/// are commented out, with their default or example, so that removing the # also gives a valid spec.
/// @param suggested  per component an object of spec keys; may be missing
/// @param name       metadata.name
/// @param gpus       the GPUs of this host, which the spec then expects; with a count of 0 `expect` is only an example
std::string init_text(const std::vector<const Manifest*>& manifests, const std::map<std::string, Json>& suggested,
                      const std::string& name = "host", const ExpectedGpus& gpus = {});

}  // namespace slipway::core
