// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/yaml.hpp - reads a config file of NVIDIA's tools: YAML, or JSON, which is YAML too.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::gfd {

/// The one document as JSON; an empty one is null. Errors: `invalid`, with file:line:column.
Result<Json> json_from_yaml(const std::string& text, const std::string& file);

}  // namespace slipway::gfd
