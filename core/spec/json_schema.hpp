// SPDX-License-Identifier: Apache-2.0
// core/spec/json_schema.hpp - the JSON Schema (draft 2020-12) of a host spec, for editors, made from the plugins'
// schemas.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// Of a whole host.yaml with these components. It takes what `slipway plan` takes, as far as JSON Schema can say it; a
/// number that YAML reads where a text is meant (version: 535) is let through although its pattern goes unchecked.
Json host_json_schema(const std::vector<const Manifest*>& manifests);

/// Of one key's value: of a component's section, or of what is below it.
Json json_schema(const SchemaKey& schema);

}  // namespace slipway::core
