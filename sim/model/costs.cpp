// SPDX-License-Identifier: Apache-2.0
// What the calls of a real driver cost, read from a file of profiles/costs.
#include <charconv>
#include <filesystem>
#include <set>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "core/loader/schema/check.hpp"
#include "sim/model/model.hpp"
#include "yaml/tree.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

// The format of costs, in the schema language of plugin manifests (docs/manifest.md). Times are in microseconds.
constexpr std::string_view kCostsSchema = R"(
apiVersion: {type: enum, values: [slipway.dev/sim/v1], required: true, help: version of this format}
costs: {type: string, required: true, help: the name of the file without .yaml}
about: {type: string, required: true, help: where they were measured}
memory_kib: {type: integer, default: 0, least: 0, most: 1048576, help: memory that a process which opens NVML keeps}
initialisation:
  type: object
  help: processor time of nvmlInit_v2
  keys:
    first: {type: integer, default: 0, least: 0, most: 10000000, help: the first of a process}
    further: {type: integer, default: 0, least: 0, most: 10000000, help: after nvmlShutdown}
gpm_metric: {type: integer, default: 0, least: 0, most: 10000000, help: processor time for a metric of nvmlGpmMetricsGet}
functions:
  type: map
  help: by the function's name
  items:
    type: object
    keys:
      processor: {type: integer, required: true, least: 0, most: 10000000, help: processor time}
      wall: {type: integer, default: 0, least: 0, most: 10000000, help: "time until the call comes back, where it waits"}
fields:
  type: map
  help: processor time by the number of a field of nvmlDeviceGetFieldValues
  items: {type: integer, least: 0, most: 10000000}
)";

sim::FunctionState* find_function(sim::Machine& machine, const std::string& name) {
  for (std::uint32_t i = 0; i < sim::kFunctionCount; ++i)
    if (name == sim::kFunctions[i].name) return &machine.functions[i];
  return nullptr;
}

/// 0: not the number of a field.
unsigned field_number(const std::string& text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() && number < sim::kMaxFields ? number : 0;
}

void add_functions(const Json& functions, sim::Machine& machine, SchemaCheck& check) {
  for (const auto& [name, cost] : functions.items()) {
    sim::FunctionState* const function = find_function(machine, name);
    if (function == nullptr) {
      check.problems.add(check.positions["functions." + name], "functions", "NVML has no function '" + name + "'",
                         "write it as nvml.h has it");
      continue;
    }
    function->cost = {cost["processor"].get<std::uint32_t>(), cost.value("wall", 0U)};
  }
}

void add_fields(const Json& fields, sim::Machine& machine, SchemaCheck& check) {
  for (const auto& [name, cost] : fields.items()) {
    const unsigned field = field_number(name);
    if (field == 0)
      check.problems.add(check.positions["fields." + name], "fields", "'" + name + "' is not the number of a field",
                         "fields are numbered from 1 to " + std::to_string(sim::kMaxFields - 1));
    else
      machine.costs.field_us[field] = cost.get<std::uint32_t>();
  }
}

Status read_costs(const std::string& file, sim::Machine& machine) {
  const auto text = read_regular(file, kYamlMaxBytes);
  SLIPWAY_CHECK(text);
  SLIPWAY_TRY(schema, own_schema(kCostsSchema, "the schema of simulated costs"));
  SLIPWAY_TRY(documents, read_yaml(*text, file));
  SchemaCheck check(file);
  if (documents.size() != 1)
    return Error{ErrorCode::invalid, "a file of costs is one YAML document", file, "see sim/README.md", {}};
  const Json value = check_value(documents.front(), schema, "", check);
  if (check.problems.none()) add_functions(value.value("functions", Json::object()), machine, check);
  if (check.problems.none()) add_fields(value.value("fields", Json::object()), machine, check);
  if (!check.problems.none()) return check.problems.to_error();
  const Json initialisation = value.value("initialisation", Json::object());
  machine.costs.first_initialisation.processor_us = initialisation.value("first", 0U);
  machine.costs.further_initialisation.processor_us = initialisation.value("further", 0U);
  machine.costs.gpm_metric_us = value.value("gpm_metric", 0U);
  machine.costs.memory_kib = value.value("memory_kib", 0U);
  return {};
}

}  // namespace

Status apply_sim_costs(const std::string& name, const std::vector<std::string>& folders, sim::Machine& machine) {
  const std::vector<std::string> names = sim_costs_names(folders);
  std::error_code ignored;
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder) / "costs" / (name + ".yaml");
    if (name.find('/') == std::string::npos && fs::is_regular_file(file, ignored))
      return read_costs(file.string(), machine);
  }
  const std::string near = nearest_word(name, names);
  return Error{ErrorCode::not_found,
               "there are no simulated costs '" + name + "'",
               "--sim",
               near.empty() ? "use one of: on, off, " + joined(names) : "did you mean 'costs=" + near + "'?",
               {}};
}

std::vector<std::string> sim_costs_names(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::directory_iterator(fs::path(folder) / "costs", ignored))
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

}  // namespace slipway::core
