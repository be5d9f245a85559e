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

/// A value in flow style: auto, "535.10", [a, b], {key: 1}. Reads back as the same value, with or without a schema.
std::string flow_yaml(const Json& value);

/// A schema's example as the value that it stands for; null when it has none.
Json example_value(const SchemaKey& schema);

/// A value that fits the schema: its default, its example, or one made up. Null when none can be made up (a text with
/// a pattern and without an example).
Json first_value(const SchemaKey& schema);

/// The text of a host spec with these components. Suggested values stand as they are; a suggestion that does not fit
/// the schema is left out. A required key without one has its example and a remark that it must be changed. Optional
/// keys stand behind a #, with their default or example, so that removing the # gives a valid spec as well.
/// @param suggested  per component an object of spec keys; may be missing
/// @param name       metadata.name
/// @param gpus       those of this host, which the spec then expects; a count of 0: `expect` is only an example
std::string init_text(const std::vector<const Manifest*>& manifests, const std::map<std::string, Json>& suggested,
                      const std::string& name = "host", const ExpectedGpus& gpus = {});

}  // namespace slipway::core
