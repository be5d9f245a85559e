// SPDX-License-Identifier: Apache-2.0
// base/merge/yaml_value.hpp - YAML values as JSON (YAML 1.2 core schema), and back on one line.
#pragma once

#include <string>

#include <yaml-cpp/yaml.h>

#include <slipway/json.hpp>

namespace slipway::merge {

/// @param duplicate  set to a key that a map has twice
Json to_json(const YAML::Node& node, std::string& duplicate);

/// Flow style. Strings are quoted wherever a YAML 1.1 or 1.2 reader could take them for something else.
std::string render_yaml(const Json& value);

}  // namespace slipway::merge
