// SPDX-License-Identifier: Apache-2.0
// cli/render/output_schema.hpp - the JSON Schema of what commands print with -o json and -o jsonl.
#pragma once

#include <slipway/json.hpp>

namespace slipway::core {

/// output.schema.json of this folder.
Json output_schema();

}  // namespace slipway::core
