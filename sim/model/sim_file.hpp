// SPDX-License-Identifier: Apache-2.0
// sim/model/sim_file.hpp - the YAML files of the simulator: profiles, models and costs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loader/schema/check.hpp"

namespace slipway::sim {

struct SimFormat {
  std::string_view schema;  ///< in the schema language of plugin manifests (docs/manifest.md)
  const char* name;         ///< the kind of file for messages: "a simulation profile"
};

/// @param text        of the file
/// @param check_rest  checks rules beyond the schema, in a value that the schema allows
/// @return the value with defaults filled in. Errors: `invalid`, with file:line:column and the expected value.
Result<Json> read_sim_file(const std::string& text, const std::string& file, const SimFormat& format,
                           const std::function<void(const Json&, core::SchemaCheck&)>& check_rest);

/// Returns the names, without .yaml, of the files in these folders, sorted, each once.
std::vector<std::string> sim_file_names(const std::vector<std::string>& folders);

/// Returns NAME.yaml from the first of the folders that has it; empty: none has it.
std::string find_sim_file(const std::string& name, const std::vector<std::string>& folders);

/// Returns FOLDER/NAME for each of the folders.
std::vector<std::string> below_each(const std::vector<std::string>& folders, const char* name);

}  // namespace slipway::sim
