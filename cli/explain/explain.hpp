// SPDX-License-Identifier: Apache-2.0
// cli/explain/explain.hpp - describes the keys of a component's spec: for users, for programs, and as JSON Schema for
// editors.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::cli {

/// Returns the text of `slipway explain COMPONENT[.KEY]`. Errors: `not_found` with the nearest key.
Result<std::string> explain(const core::Manifest& manifest, const std::string& key);
/// The same for programs: {"component", "purpose", "provides", "requires", "after", "conflicts", "outputs", "keys":
/// {NAME: {"type", "required", "help", "default", "example", "pattern", "values", "least", "most", "formerly",
/// "deprecated", "items", "keys"}}}; of one key {"component", "key", "schema"}.
Result<Json> explain_json(const core::Manifest& manifest, const std::string& key);

/// Returns the schema of a whole host.yaml with these components. It accepts what `slipway plan` accepts, as far as
/// JSON Schema can express it; it accepts a number where YAML text is expected (version: 535) without checking its
/// pattern.
Json host_json_schema(const std::vector<const core::Manifest*>& manifests);

/// Returns the schema of one key's value: of a component's section, or of a part of it.
Json json_schema(const core::SchemaKey& schema);

}  // namespace slipway::cli
