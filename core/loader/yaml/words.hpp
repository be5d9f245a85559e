// SPDX-License-Identifier: Apache-2.0
// core/loader/yaml/words.hpp - says in words what is wrong with a text that is no YAML, and what to do about it.
#pragma once

#include <string>

#include "core/loader/yaml/text.hpp"

namespace slipway::core {

struct YamlComplaint {
  Position position;
  std::string what;
  std::string next;
};

/// @param message      yaml-cpp's own words
/// @param line,column  where it stopped, counted from 0, the column in bytes
YamlComplaint explain_yaml_error(const TextLines& lines, const std::string& message, int line, int column);

/// A block line that is indented with a tab.
YamlComplaint tab_complaint(const TextLines& lines, int line);

}  // namespace slipway::core
