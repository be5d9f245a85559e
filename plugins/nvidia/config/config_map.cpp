// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/config_map.hpp"

#include <algorithm>
#include <charconv>

#include <slipway/text.hpp>

namespace slipway::nvidia::config {
namespace {

constexpr const char* kOwnFile = "write the one to use into a file of its own";

/// Splits "config.yaml:9:17"; without a line it is the file alone.
struct Where {
  explicit Where(const std::string& text) : file(text) {
    const std::size_t column = text.rfind(':');
    const std::size_t line = column == std::string::npos || column == 0 ? column : text.rfind(':', column - 1);
    if (line == std::string::npos) return;
    const auto number = [&text](std::size_t at, std::size_t end, std::size_t& value) {
      const auto [stop, problem] = std::from_chars(text.data() + at + 1, text.data() + end, value);
      return problem == std::errc{} && stop == text.data() + end;
    };
    TextPlace found;
    if (!number(line, column, found.line) || !number(column, text.size(), found.column)) return;
    file = text.substr(0, line);
    place = found;
  }
  std::string file;
  TextPlace place;
};

/// Rejects a Kubernetes object that is neither a ConfigMap nor a config with a stray `kind`.
Status expect_config(const Node& document) {
  const std::string& kind = document.at("kind").text;
  if (kind.empty() || kind == "ConfigMap" || !document.at("version").is_null()) return {};
  if (kind != "List" && document.at("apiVersion").is_null()) return {};
  std::vector<std::string> maps;
  for (const Node& item : document.at("items").items)
    if (item.at("kind").text == "ConfigMap") maps.push_back(item.at("metadata").at("name").text);
  return document.at("kind").wrong(
      "this is a Kubernetes object of the kind " + kind + ", not a config" +
          (maps.empty() ? "" : "; it contains the ConfigMaps " + joined(maps)),
      "write one ConfigMap into the file (`kubectl get configmap NAME -o yaml`), or the config itself");
}

/// Returns the members of `data`. Errors: `invalid` there are none.
Result<const Node*> data_of(const Node& document) {
  const Node& data = document.at("data");
  if (data.is_map() && !data.keys.empty()) return &data;
  return document.wrong("this ConfigMap has no data", "put each config under a key of data");
}

}  // namespace

NamedConfig read_config(const std::string& text, const std::string& file, const ScalarSource* source) {
  NamedConfig config;
  auto node = node_from_yaml(text, file, config.warnings, source);
  if (node)
    config.node = *std::move(node);
  else
    config.problem = node.error();
  return config;
}

Result<Configs> split_configs(const NamedConfig& document, const std::string& text) {
  if (document.problem) return *document.problem;
  SLIPWAY_CHECK(expect_config(document.node));
  if (document.node.at("kind").text != "ConfigMap") return Configs{{"", document}};
  SLIPWAY_TRY(data, data_of(document.node));
  Configs configs;
  const Lines lines = lines_in(text);
  for (std::size_t i = 0; i < data->keys.size(); ++i) {
    const Node& node = data->items[i];
    NamedConfig& config = configs[data->keys[i]];
    if (node.is_map()) {
      config.node = node;  // written as a map: not a valid ConfigMap, but the meaning is clear
    } else if (text.empty()) {
      config = read_config(node.text, node.where);
    } else {
      const Where where(node.where);
      const ScalarSource source(text, lines, where.place, node.text);
      config = read_config(node.text, where.file, &source);
    }
    config.warnings.insert(config.warnings.begin(), document.warnings.begin(), document.warnings.end());
  }
  return configs;
}

Result<const NamedConfig*> choose_config(const Configs& configs, const Choice& choice) {
  const auto checked = [](const NamedConfig& config) -> Result<const NamedConfig*> {
    if (config.problem) return *config.problem;
    return &config;
  };
  const std::string names = joined(configs, ", ", [](const auto& config) { return config.first; });
  if (configs.size() == 1 && configs.begin()->first.empty()) return checked(configs.begin()->second);
  if (!choice.name.empty()) {
    if (const auto found = configs.find(choice.name); found != configs.end()) return checked(found->second);
    return Error{.code = ErrorCode::not_found,
                 .what = "there is no config '" + choice.name + "'",
                 .where = choice.where,
                 .next = "choose one of " + names};
  }
  for (const char* name : {"default", "any", "config.yaml"})
    if (const auto found = configs.find(name); found != configs.end()) return checked(found->second);
  if (configs.size() == 1) return checked(configs.begin()->second);
  return Error{.code = ErrorCode::not_found,
               .what = "there are several configs (" + names + "), and none is chosen",
               .where = choice.where,
               .next = choice.remedy + ", or name one of them `default`"};
}

Result<NamedConfig> only_config(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(configs, split_configs(read_config(text, file), text));
  SLIPWAY_TRY(config, choose_config(configs, {.name = {}, .where = file, .remedy = kOwnFile}));
  return *config;
}

Result<std::optional<std::string>> text_in_config_map(const std::string& text, const std::string& file,
                                                      const std::string& usual_key) {
  if (text.find("kind") == std::string::npos) return std::optional<std::string>();
  const NamedConfig document = read_config(text, file);
  if (document.problem || !document.node.is_map()) return std::optional<std::string>();
  SLIPWAY_CHECK(expect_config(document.node));
  if (document.node.at("kind").text != "ConfigMap") return std::optional<std::string>();
  SLIPWAY_TRY(data, data_of(document.node));
  const auto usual = std::ranges::find(data->keys, usual_key);
  if (usual == data->keys.end() && data->keys.size() > 1)
    return Error{
        ErrorCode::not_found,
        "this ConfigMap has several entries (" + joined(data->keys) + "), and none of them is called " + usual_key,
        data->where,
        kOwnFile,
        {}};
  const Node& node = data->items[usual == data->keys.end() ? 0 : static_cast<std::size_t>(usual - data->keys.begin())];
  SLIPWAY_TRY(value, node.string());
  const ScalarSource source(text, Where(node.where).place, value);
  std::string placed;
  std::size_t line = 1;
  std::size_t inside = 0;
  for (const std::string_view each : lines_of<std::string_view>(value)) {
    for (const std::size_t wanted = source.place_of({++inside, 1}).line; line < wanted; ++line) placed += '\n';
    placed += std::string(each) + '\n';
    ++line;
  }
  return std::optional(std::move(placed));
}

}  // namespace slipway::nvidia::config
