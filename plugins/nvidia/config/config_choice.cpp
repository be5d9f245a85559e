// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/config_choice.hpp"

#include <algorithm>
#include <cstdlib>

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "nvidia/config/variables.hpp"

namespace slipway::nvidia::config {
namespace {

constexpr std::size_t kLongestFile = 1U << 20;

Result<Configs> read_folder(const std::string& folder, const std::vector<std::string>& names, const Host& host) {
  Configs configs;
  constexpr std::size_t kMostFiles = 256;
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;  // ..data and similar entries of a mounted ConfigMap
    if (configs.size() == kMostFiles)
      return Error{.code = ErrorCode::invalid,
                   .what = "the folder of configs has more than " + std::to_string(kMostFiles) + " files",
                   .where = folder,
                   .next = "keep only the configs to choose from in this folder"};
    const std::string path = folder + "/" + name;
    const auto text = read_trusted(host, path, kLongestFile);
    if (!text && text.error().code == ErrorCode::denied) return text.error();
    if (!text) continue;  // a folder
    configs[name] = read_config(*text, path);
  }
  return configs;
}

/// GPU Feature Discovery's own variable overrides the shared one.
const char* named_file(const std::string& component, const Environment& environment) {
  const char* const own = component == "gfd" ? environment("GFD_CONFIG_FILE") : nullptr;
  return own != nullptr ? own : environment("CONFIG_FILE");
}

Result<Configs> read_configs_at(const std::string& path, const Host& host) {
  if (const auto names = host.list(path)) return read_folder(path, *names, host);
  SLIPWAY_TRY(text, read_trusted(host, path, kLongestFile));
  return split_configs(read_config(text, path), text);
}

Result<Configs> read_configs(const Spec& spec, const std::string& component, const std::string& section,
                             const Host& host, const Environment& environment) {
  if (spec.has("config")) return split_configs({.node = node_from_json(spec.value("config"), section)}, {});
  const char* const named = named_file(component, environment);
  const std::string path = spec.has("config_file") || named == nullptr ? spec.text("config_file") : named;
  if (path.empty()) return Configs{{"", {}}};
  auto configs = read_configs_at(path, host);
  if (configs || configs.error().code != ErrorCode::not_found) return configs;
  const bool by_key = spec.has("config_file") || named == nullptr;
  const bool own = component == "gfd" && environment("GFD_CONFIG_FILE") != nullptr;
  const std::string variable = own ? "GFD_CONFIG_FILE" : "CONFIG_FILE";
  return Error{
      .code = ErrorCode::not_found,
      .what = "the config file " + path + " does not exist",
      .where = by_key ? "spec.components." + component + ".config_file" : place_of_variable(spec, component, variable),
      .next = "create the file, or remove " + (by_key ? std::string("config_file") : variable)};
}

/// Messages do not quote the file's text: a link may lead to a secret file.
Result<std::string> choice_in(const Spec& spec, const Host& host) {
  constexpr std::size_t kLongest = 253;  // limit for a key of a ConfigMap
  if (!spec.has("config_choice_file")) return std::string();
  const std::string file = spec.text("config_choice_file");
  SLIPWAY_CHECK(check_only_ours(host, file));
  std::string name = host.attribute(file);
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name.size() <= kLongest && std::ranges::all_of(name, allowed)) return name;
  return Error{.code = ErrorCode::invalid,
               .what = "the file does not contain the name of a config",
               .where = file,
               .next = "write one name into it, of letters, digits, -, _ and ."};
}

/// The file overrides the key.
Result<Choice> choice_of(const Spec& spec, const std::string& component, const Host& host) {
  const std::string section = "spec.components." + component;
  Choice choice{.name = {},
                .where = section + (spec.has("config") ? ".config" : ".config_file"),
                .remedy = "set config_name to one of them"};
  SLIPWAY_TRY(chosen, choice_in(spec, host));
  if (!chosen.empty())
    choice = {.name = chosen, .where = spec.text("config_choice_file"), .remedy = {}};
  else if (!spec.text("config_name").empty())
    choice = {.name = spec.text("config_name"), .where = section + ".config_name", .remedy = {}};
  return choice;
}

Status take_chosen(const NamedConfig& config, Settings& settings) {
  settings.warnings.insert(settings.warnings.end(), config.warnings.begin(), config.warnings.end());
  return take_config(config.node, settings);
}

Result<Settings> chosen_settings(const Spec& spec, const std::string& component, const Host& host,
                                 const char* (*process)(const char* name)) {
  const Environment environment = with_variables_of(spec, process);
  const std::string section = "spec.components." + component + ".config";
  SLIPWAY_TRY(configs, read_configs(spec, component, section, host, environment));
  SLIPWAY_TRY(choice, choice_of(spec, component, host));
  SLIPWAY_TRY(config, choose_config(configs, choice));
  Settings settings;
  SLIPWAY_TRY(warnings, check_variables(spec, component, process));
  settings.warnings = std::move(warnings);
  SLIPWAY_CHECK(take_chosen(*config, settings));
  SLIPWAY_CHECK(take_environment(
      environment, [&](const char* name) { return place_of_variable(spec, component, name); }, settings));
  SLIPWAY_CHECK(check_settings(settings));
  for (const auto& [variable, list] : {std::pair{"DP_DISABLE_HEALTHCHECKS", settings.health_checks_off},
                                       std::pair{"DP_ENABLE_HEALTHCHECKS", settings.health_checks_on}})
    for (const std::string& word :
         component == "deviceplugin" ? words_that_are_not_xids(list) : std::vector<std::string>())
      settings.warnings.push_back(
          place_of_variable(spec, component, variable) + ": '" + word +
          "' is not the number of an XID and is ignored: write numbers, xids or all, with commas between them");
  if (component == "deviceplugin" && settings.health_checks_on.empty() && names_all(settings.health_checks_off))
    settings.warnings.emplace_back(
        "DP_DISABLE_HEALTHCHECKS has `all`: no GPU becomes unhealthy for kubelet, not even a lost one");
  return settings;
}

}  // namespace

Result<Settings> read_settings_file(const Host& host, const std::string& path, const std::string& name,
                                    const char* (*process)(const char* name)) {
  SLIPWAY_TRY(configs, read_configs_at(path, host));
  SLIPWAY_TRY(config, choose_config(configs, {.name = name,
                                              .where = name.empty() ? path : "--config-name",
                                              .remedy = "choose one with --config-name"}));
  Settings settings;
  SLIPWAY_CHECK(take_chosen(*config, settings));
  SLIPWAY_CHECK(take_environment(
      process, [](const char* variable) { return "environment." + std::string(variable); }, settings));
  SLIPWAY_CHECK(check_settings(settings));
  return settings;
}

std::vector<std::string> config_files(const Spec& spec, const std::string& component,
                                      const char* (*process)(const char* name)) {
  std::vector<std::string> files;
  if (spec.has("config_choice_file")) files.push_back(spec.text("config_choice_file"));
  if (spec.has("config")) return files;
  const char* const named = named_file(component, with_variables_of(spec, process));
  std::string path = spec.has("config_file") || named == nullptr ? spec.text("config_file") : named;
  if (!path.empty()) files.push_back(std::move(path));
  return files;
}

bool names_a_config(const Spec& spec, const std::string& component, const char* (*process)(const char* name)) {
  const char* const named = named_file(component, with_variables_of(spec, process));
  return spec.has("config") || spec.has("config_file") || (named != nullptr && *named != '\0');
}

const char* process_environment(const char* name) { return std::getenv(name); }
const char* no_environment(const char*) { return nullptr; }

Result<Settings> read_settings(const Spec& spec, const std::string& component, const Host& host,
                               const char* (*process)(const char* name)) {
  auto settings = chosen_settings(spec, component, host, process);
  if (settings || settings.error().code != ErrorCode::not_found) return settings;
  Error mistake = std::move(settings).error();
  mistake.code = ErrorCode::invalid;  // no component creates the missing file, so waiting would not help
  return mistake;
}

}  // namespace slipway::nvidia::config
