// SPDX-License-Identifier: Apache-2.0
// The costs of a real driver's calls, read from a file of profiles/costs.
#include <charconv>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/yaml/tree.hpp"
#include "sim/model/model.hpp"
#include "sim/model/sim_file.hpp"

namespace slipway::sim {
namespace {

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

/// 0: not a field number.
unsigned field_number(const std::string& text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() && number < sim::kMaxFields ? number : 0;
}

void add_functions(const Json& functions, sim::Machine& machine, core::SchemaCheck& check) {
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

void add_fields(const Json& fields, sim::Machine& machine, core::SchemaCheck& check) {
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
  const auto text = read_regular(file, base::kYamlMaxBytes);
  SLIPWAY_CHECK(text);
  SLIPWAY_TRY(value, read_sim_file(*text, file, {kCostsSchema, "a file of simulated costs"},
                                   [&machine](const Json& checked, core::SchemaCheck& check) {
                                     add_functions(checked.value("functions", Json::object()), machine, check);
                                     add_fields(checked.value("fields", Json::object()), machine, check);
                                   }));
  const Json initialisation = value.value("initialisation", Json::object());
  machine.costs.first_initialisation.processor_us = initialisation.value("first", 0U);
  machine.costs.further_initialisation.processor_us = initialisation.value("further", 0U);
  machine.costs.gpm_metric_us = value.value("gpm_metric", 0U);
  machine.costs.memory_kib = value.value("memory_kib", 0U);
  return {};
}

}  // namespace

Status apply_sim_costs(const std::string& name, const std::vector<std::string>& folders, sim::Machine& machine) {
  const std::vector<std::string> places = below_each(folders, "costs");
  if (name.find('/') == std::string::npos)
    if (const std::string file = find_sim_file(name, places); !file.empty()) return read_costs(file, machine);
  const std::vector<std::string> names = sim_file_names(places);
  const std::string near = nearest_word(name, names);
  return Error{ErrorCode::not_found,
               "there are no simulated costs '" + name + "'",
               "--sim",
               near.empty() ? "use one of: on, off, " + joined(names) : "did you mean 'costs=" + near + "'?",
               {}};
}

std::vector<std::string> sim_costs_names(const std::vector<std::string>& folders) {
  return sim_file_names(below_each(folders, "costs"));
}

}  // namespace slipway::sim
