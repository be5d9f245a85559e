// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/artifact_source.hpp - the schema type artifact-source: where a component's packages come from.
#pragma once

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// The keys of the long form, as an object's schema.
const SchemaKey& artifact_source_schema();

/// A text (oci://HOST[:PORT]/NAME[:TAG][@DIGEST], or a path) or a map; stays in the form it has.
Json check_artifact_source(const YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

}  // namespace slipway::core
