// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/choose.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <slipway/text.hpp>

#include "nvidia/config/variables.hpp"

namespace slipway::nvidia::config {
namespace {

constexpr std::size_t kLongestFile = 1U << 20;

/// Where the text of a block scalar (`|`) begins in the file: below its key, indented.
Position block_position(const Node& node, const std::string& raw_text) {
  const std::size_t first = node.where.rfind(':', node.where.rfind(':') - 1);
  if (raw_text.empty() || first == std::string::npos) return {};
  const int line = std::atoi(node.where.c_str() + first + 1);
  std::istringstream lines(raw_text);
  std::string text;
  for (int i = 0; i <= line && std::getline(lines, text); ++i) continue;
  const std::size_t indent = text.find_first_not_of(' ');
  return {line, indent == std::string::npos ? 0 : static_cast<int>(indent)};
}

std::string file_of(const std::string& where) {
  const std::size_t last = where.rfind(':');
  const std::size_t first = last == std::string::npos ? last : where.rfind(':', last - 1);
  return first == std::string::npos ? where : where.substr(0, first);
}

Result<Configs> read_folder(const std::string& folder, const std::vector<std::string>& names, const Host& host) {
  Configs configs;
  constexpr std::size_t kMostFiles = 256;
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;  // ..data and the like of a mounted ConfigMap
    if (configs.size() == kMostFiles)
      return Error{.code = ErrorCode::invalid,
                   .what = "the folder of configs has more than " + std::to_string(kMostFiles) + " files",
                   .where = folder,
                   .next = "leave in it the configs that are chosen from, and nothing else"};
    const std::string path = folder + "/" + name;
    const auto text = host.read(path, kLongestFile);
    if (!text) continue;
    SLIPWAY_TRY(node, node_from_yaml(*text, path));
    configs[name] = node;
  }
  return configs;
}

/// GPU Feature Discovery's own variable comes before the one that it shares.
const char* named_file(const std::string& component, const Environment& environment) {
  const char* const own = component == "gfd" ? environment("GFD_CONFIG_FILE") : nullptr;
  return own != nullptr ? own : environment("CONFIG_FILE");
}

Result<Configs> read_configs(const Spec& spec, const std::string& component, const std::string& section,
                             const Host& host, const Environment& environment) {
  if (spec.has("config")) return split_configs(node_from_json(spec.value("config"), section), {});
  const char* const named = named_file(component, environment);
  const std::string path = spec.has("config_file") || named == nullptr ? spec.text("config_file") : named;
  if (path.empty()) return Configs{{"", Node()}};
  if (const auto names = host.list(path)) return read_folder(path, *names, host);
  SLIPWAY_TRY(text, host.read(path, kLongestFile));
  SLIPWAY_TRY(document, node_from_yaml(text, path));
  return split_configs(document, text);
}

/// Its text is quoted in no message: a link may lead to something that is nobody's business.
Result<std::string> choice_in(const Spec& spec, const Host& host) {
  constexpr std::size_t kLongest = 253;  // of a key of a ConfigMap
  if (!spec.has("config_choice_file")) return std::string();
  const std::string file = spec.text("config_choice_file");
  std::string name = host.attribute(file);
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name.size() <= kLongest && std::ranges::all_of(name, allowed)) return name;
  return Error{.code = ErrorCode::invalid,
               .what = "the file holds no name of a config",
               .where = file,
               .next = "write one name into it, of letters, digits, -, _ and ."};
}

}  // namespace

Result<Configs> split_configs(const Node& document, const std::string& raw_text) {
  if (document.at("kind").text != "ConfigMap") return Configs{{"", document}};
  const Node& data = document.at("data");
  if (!data.is_map() || data.keys.empty())
    return document.wrong("this ConfigMap has no data", "put each config under a key of data");
  Configs configs;
  for (std::size_t i = 0; i < data.keys.size(); ++i) {
    const std::string& name = data.keys[i];
    const Node& node = data.items[i];
    if (node.is_map()) {
      configs[name] = node;  // written as a map, which a real ConfigMap has not, but means the same
      continue;
    }
    const std::string file = raw_text.empty() ? node.where : file_of(node.where);
    SLIPWAY_TRY(config, node_from_yaml(node.text, file, block_position(node, raw_text)));
    configs[name] = config;
  }
  return configs;
}

Result<const Node*> choose_config(const Configs& configs, const std::string& wanted, const std::string& fallback,
                                  const std::string& where) {
  const std::string names = joined(configs, ", ", [](const auto& config) { return config.first; });
  if (configs.size() == 1 && configs.begin()->first.empty()) return &configs.begin()->second;
  for (const std::string& name : {wanted, fallback})
    if (!name.empty()) {
      const auto found = configs.find(name);
      if (found != configs.end()) return &found->second;
      return Error{.code = ErrorCode::not_found,
                   .what = "there is no config '" + name + "'",
                   .where = where,
                   .next = "choose one of " + names};
    }
  for (const char* name : {"default", "any", "config.yaml"})
    if (const auto found = configs.find(name); found != configs.end()) return &found->second;
  if (configs.size() == 1) return &configs.begin()->second;
  return Error{.code = ErrorCode::not_found,
               .what = "none of the configs is chosen for this host",
               .where = where,
               .next = "set config_name to one of " + names + ", or call one `default`"};
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

const char* process_environment(const char* name) { return std::getenv(name); }
const char* no_environment(const char*) { return nullptr; }

Result<Settings> read_settings(const Spec& spec, const std::string& component, const Host& host,
                               const char* (*process)(const char* name)) {
  const Environment environment = with_variables_of(spec, process);
  const std::string section = "spec.components." + component + ".config";
  SLIPWAY_TRY(configs, read_configs(spec, component, section, host, environment));
  SLIPWAY_TRY(chosen, choice_in(spec, host));
  SLIPWAY_TRY(node, choose_config(configs, chosen, spec.text("config_name"), section));
  Settings settings;
  SLIPWAY_TRY(warnings, check_variables(spec, component, process));
  settings.warnings = std::move(warnings);
  SLIPWAY_CHECK(take_config(*node, settings));
  SLIPWAY_CHECK(take_environment(
      environment, [&](const char* name) { return place_of_variable(spec, component, name); }, settings));
  SLIPWAY_CHECK(check_settings(settings));
  if (component == "deviceplugin" && settings.health_checks_on.empty() && names_all(settings.health_checks_off))
    settings.warnings.emplace_back(
        "DP_DISABLE_HEALTHCHECKS has `all`: no GPU becomes unhealthy for kubelet, not even a lost one");
  return settings;
}

}  // namespace slipway::nvidia::config
