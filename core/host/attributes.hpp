// SPDX-License-Identifier: Apache-2.0
// core/host/attributes.hpp - extended attributes as the journal and generations keep them.
#pragma once

#include <slipway/json.hpp>
#include <slipway/write/attributes.hpp>

namespace slipway::core {

/// {"name": "value in hex"}
Json to_json(const Attributes& attributes);
Attributes attributes_from_json(const Json& value);

}  // namespace slipway::core
