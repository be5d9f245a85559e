// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/config.hpp"

#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/flags.hpp"
#include "nvidia/config/keys.hpp"
#include "nvidia/config/shared_settings.hpp"
#include "nvidia/config/variables.hpp"
#include "nvidia/duration.hpp"

namespace slipway::gfd {
namespace {

using namespace nvidia::config;
using std::chrono::milliseconds;

constexpr milliseconds kShortest{1000};

Error wrong(const std::string& what, const std::string& where, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = what, .where = where, .next = next};
}

/// A number is in nanoseconds, as in Go's JSON.
Status set_interval(const Node& node, Config& config) {
  if (const auto number = node.number(); number && !node.quoted) {
    const std::chrono::nanoseconds given(*number);
    config.interval = std::max(std::chrono::duration_cast<milliseconds>(given), kShortest);
    return {};
  }
  SLIPWAY_TRY(text, node.string());
  SLIPWAY_TRY(parsed, parse_interval(text, node.where));
  config.interval = parsed;
  return {};
}

constexpr Key<Config> kOwn[] = {
    {"oneshot", kIgnore},
    {"noTimestamp",
     [](const Node& node, Config& config) {
       bool none = false;
       const Status read = set_flag(node, none);
       config.timestamp = !none;
       return read;
     }},
    {"outputFile", [](const Node& node, Config& config) { return set_text(node, config.output); }},
    {"machineTypeFile", [](const Node& node, Config& config) { return set_text(node, config.machine_type_file); }},
    {"sleepInterval", set_interval},
};

/// The service's unit has access only to paths in the host spec: paths from elsewhere would fail.
Status check_paths(const Spec& spec, const Config& config) {
  const auto shared = names_a_config(spec, "gfd", no_environment) ? std::nullopt : spec.section_of("deviceplugin");
  const Json given = shared ? shared->value("config") : spec.value("config");
  if (given.is_object() && given.value("kind", Json()) != "ConfigMap")
    return {};  // the unit is created with the paths of this config
  const auto refuse = [](const char* key, const std::string& path, const char* own) -> Status {
    return wrong(
        std::string(key) + " '" + path + "' comes from a config that is chosen only when the service runs",
        std::string("spec.components.gfd.") + own,
        std::string("write ") + own + ": " + path + " in the spec's gfd, so that the service's unit may use it");
  };
  if (!spec.has("output") && config.output != kFeatureFile) return refuse("outputFile", config.output, "output");
  if (!spec.has("machine_type_file") && config.machine_type_file != kMachineTypeFile)
    return refuse("machineTypeFile", config.machine_type_file, "machine_type_file");
  return {};
}

/// The same for variables of the service's process: its unit and the plan do not know them.
Status check_paths_of_process(const Spec& spec, const Environment& environment) {
  const Json of_spec = spec.value("env");
  for (const auto& [name, key] :
       {std::pair("GFD_OUTPUT_FILE", "output"), std::pair("GFD_MACHINE_TYPE_FILE", "machine_type_file")}) {
    const char* const value = environment(name);
    const bool is_set = value != nullptr && *value != '\0';
    if (!is_set || spec.has(key) || (of_spec.is_object() && of_spec.contains(name))) continue;
    return wrong(
        std::string(name) + " is set only in the service's environment, so its unit has no access to that path",
        "environment." + std::string(name), std::string("unset it, and write ") + key + " in the spec's gfd");
  }
  return {};
}

/// Reads the variables that only gpu-feature-discovery has; FAIL_ON_INIT_ERROR and MIG_STRATEGY are in the settings
/// already.
Status take_variables(const Spec& spec, const Environment& environment, Config& config) {
  SLIPWAY_CHECK(check_paths_of_process(spec, environment));
  const auto set = [&](const char* name, const auto& take) -> Status {
    const char* const value = environment(name);
    if (value == nullptr || *value == '\0') return {};
    return take(scalar(value, place_of_variable(spec, "gfd", name)));
  };
  SLIPWAY_CHECK(set("GFD_MIG_STRATEGY", [&](const Node& node) -> Status {
    SLIPWAY_TRY(strategy, parse_mig_strategy(node.text, node.where));
    config.mig_strategy = strategy;
    return {};
  }));
  SLIPWAY_CHECK(
      set("GFD_FAIL_ON_INIT_ERROR", [&](const Node& node) { return set_flag(node, config.fail_on_init_error); }));
  bool none = !config.timestamp;
  SLIPWAY_CHECK(set("GFD_NO_TIMESTAMP", [&](const Node& node) { return set_flag(node, none); }));
  config.timestamp = !none;
  SLIPWAY_CHECK(set("GFD_SLEEP_INTERVAL", [&](const Node& node) -> Status {
    SLIPWAY_TRY(interval, parse_interval(node.text, node.where));
    config.interval = interval;
    return {};
  }));
  SLIPWAY_CHECK(set("GFD_OUTPUT_FILE", [&](const Node& node) { return set_text(node, config.output); }));
  return set("GFD_MACHINE_TYPE_FILE", [&](const Node& node) { return set_text(node, config.machine_type_file); });
}

}  // namespace

Result<std::optional<milliseconds>> parse_interval(const std::string& text, const std::string& where) {
  if (text == "infinite") return std::optional<milliseconds>();
  const Error error = wrong("'" + text + "' is not an interval", where, "write it like 60s, 1m30s or infinite");
  const auto parsed = nvidia::parse_duration(text);
  if (!parsed) return error;
  // A pass takes milliseconds: an interval below one second would only load the machine.
  return std::optional(std::max(std::chrono::duration_cast<milliseconds>(*parsed), kShortest));
}

Status take_settings(const Settings& settings, Config& config) {
  config.mig_strategy = settings.mig_strategy;
  config.gpu_names = settings.gpu_names;
  config.mig_names = settings.mig_names;
  config.named_resources = given_names(settings);
  config.sharing = settings.sharing;
  config.warnings = settings.warnings;
  config.fail_on_init_error = settings.fail_on_init_error;
  if (settings.use_node_feature_api)
    config.warnings.emplace_back(
        "flags.useNodeFeatureAPI has no effect: the labels go to the file of Node Feature Discovery");
  return take(settings.gfd, kOwn, config);
}

Status take_upstream_config(const Node& file, Config& config) {
  Settings settings;
  SLIPWAY_CHECK(take_config(file, settings));
  SLIPWAY_CHECK(check_settings(settings));
  return take_settings(settings, config);
}

Result<Config> config_of(const Spec& spec, const Host& host) {
  SLIPWAY_TRY(settings, read_shared_settings(spec, "gfd", host, no_environment));
  return config_of(spec, settings, no_environment);
}

Result<Config> config_of(const Spec& spec, const Settings& settings, const char* (*process)(const char* name)) {
  Config config;
  SLIPWAY_CHECK(take_settings(settings, config));
  SLIPWAY_CHECK(check_paths(spec, config));
  SLIPWAY_CHECK(take_variables(spec, with_variables_of(spec, process), config));
  if (spec.has("mig_strategy")) {
    SLIPWAY_TRY(strategy, parse_mig_strategy(spec.text("mig_strategy"), "spec.components.gfd.mig_strategy"));
    config.mig_strategy = strategy;
  }
  if (spec.has("interval")) {
    SLIPWAY_TRY(interval, parse_interval(spec.text("interval"), "spec.components.gfd.interval"));
    config.interval = interval;
  }
  if (spec.has("output")) config.output = spec.text("output");
  if (!config.output.empty() && !config.output.starts_with('/'))
    return wrong("the path '" + config.output + "' is not absolute", "spec.components.gfd.output",
                 "begin it with /: a service has no working directory");
  if (spec.has("machine_type_file")) config.machine_type_file = spec.text("machine_type_file");
  if (spec.has("timestamp")) config.timestamp = spec.flag("timestamp");
  if (spec.has("operator_labels")) config.operator_labels = spec.flag("operator_labels");
  if (spec.has("pci_labels")) config.pci_labels = spec.flag("pci_labels");
  if (spec.has("driver_root")) config.driver_root = spec.text("driver_root");
  return config;
}

Result<std::vector<std::string>> contradictions_of(const Spec& spec, const Host& host) {
  SLIPWAY_TRY(shared, settings_of_deviceplugin(spec, host));
  if (!shared) return std::vector<std::string>();
  SLIPWAY_TRY(own, read_shared_settings(spec, "gfd", host, no_environment));
  SLIPWAY_TRY(config, config_of(spec, own, no_environment));
  own.mig_strategy = config.mig_strategy;
  std::vector<std::string> found = contradictions("gfd", own, *shared);
  for (std::string& each : found)
    each += ": the labels would differ from the resources that deviceplugin offers to kubelet";
  return found;
}

}  // namespace slipway::gfd
