// SPDX-License-Identifier: Apache-2.0
// sim/model/sim_file.hpp - the YAML files of the simulator: profiles, models and costs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loader/schema/check.hpp"

namespace slipway::core {

struct SimFormat {
  std::string_view schema;  ///< in the schema language of plugin manifests (docs/manifest.md)
  const char* name;         ///< "a simulation profile", for messages
};

/// @param text        of the file
/// @param check_rest  finds what the schema cannot say, in a value that the schema allows
/// @return the value with defaults filled in. Errors: `invalid`, naming file:line:column and what was expected.
Result<Json> read_sim_file(const std::string& text, const std::string& file, const SimFormat& format,
                           const std::function<void(const Json&, SchemaCheck&)>& check_rest);

/// The names without .yaml of the files in these folders, sorted, each once.
std::vector<std::string> sim_file_names(const std::vector<std::string>& folders);

/// The file NAME.yaml of the first of the folders that has it; empty: none has.
std::string find_sim_file(const std::string& name, const std::vector<std::string>& folders);

/// FOLDER/NAME for each of the folders.
std::vector<std::string> below_each(const std::vector<std::string>& folders, const char* name);

}  // namespace slipway::core
