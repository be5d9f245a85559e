// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/secret.hpp - the schema type secret: a reference to a secret, never the secret itself.
#pragma once

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// {file: PATH} or {env: NAME}. No message quotes anything of what was written: it may be the secret itself.
Json check_secret(const YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

}  // namespace slipway::core
