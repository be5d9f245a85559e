// SPDX-License-Identifier: Apache-2.0
#include "sim/model/sim_file.hpp"

#include <filesystem>
#include <set>

#include "base/yaml/tree.hpp"

namespace slipway::sim {

namespace fs = std::filesystem;

Result<Json> read_sim_file(const std::string& text, const std::string& file, const SimFormat& format,
                           const std::function<void(const Json&, core::SchemaCheck&)>& check_rest) {
  SLIPWAY_TRY(schema, core::own_schema(format.schema, std::string("the schema of ") + format.name));
  SLIPWAY_TRY(documents, base::read_yaml(text, file));
  if (documents.size() != 1)
    return Error{ErrorCode::invalid, std::string(format.name) + " is one YAML document", file, "see sim/README.md", {}};
  core::SchemaCheck check(file);
  const Json written = core::check_value(documents.front(), schema, "", check);
  if (!check.problems.none()) return check.problems.to_error();
  Json value = core::complete_value(written, schema, "/");
  check_rest(value, check);
  if (!check.problems.none()) return check.problems.to_error();
  return value;
}

std::vector<std::string> sim_file_names(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

std::string find_sim_file(const std::string& name, const std::vector<std::string>& folders) {
  std::error_code ignored;
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder) / (name + ".yaml");
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return {};
}

std::vector<std::string> below_each(const std::vector<std::string>& folders, const char* name) {
  std::vector<std::string> below;
  for (const std::string& folder : folders) below.push_back(folder + "/" + name);
  return below;
}

}  // namespace slipway::sim
