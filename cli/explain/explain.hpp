// SPDX-License-Identifier: Apache-2.0
// cli/explain/explain.hpp - what a component's spec takes: for people, for programs, and as JSON Schema for editors.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// The text of `slipway explain COMPONENT[.KEY]`. Errors: `not_found` with the nearest key.
Result<std::string> explain(const Manifest& manifest, const std::string& key);
/// The same for programs: {"component", "purpose", "provides", "requires", "after", "conflicts", "outputs", "keys":
/// {NAME: {"type", "required", "help", "default", "example", "pattern", "values", "least", "most", "formerly",
/// "deprecated", "items", "keys"}}}; of one key {"component", "key", "schema"}.
Result<Json> explain_json(const Manifest& manifest, const std::string& key);

/// Of a whole host.yaml with these components. It takes what `slipway plan` takes, as far as JSON Schema can say it; a
/// number that YAML reads where a text is meant (version: 535) is let through although its pattern goes unchecked.
Json host_json_schema(const std::vector<const Manifest*>& manifests);

/// Of one key's value: of a component's section, or of what is below it.
Json json_schema(const SchemaKey& schema);

}  // namespace slipway::core
