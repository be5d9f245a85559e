// SPDX-License-Identifier: Apache-2.0
// sdk/merge/yaml_documents.hpp - how many documents a YAML text holds.
#pragma once

#include <string>

namespace slipway::merge {

/// 0, 1, or 2 for more. YAML::LoadAll() adds empty documents without end when a comma or a bracket follows one.
/// Throws YAML::Exception as that does.
int count_yaml_documents(const std::string& bytes);

}  // namespace slipway::merge
