// SPDX-License-Identifier: Apache-2.0
#include "gfd/tool_options.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "gfd/config.hpp"

namespace slipway::gfd {
namespace {

Error usage_error(std::string_view tool, const std::string& what) {
  return Error{.code = ErrorCode::usage,
               .what = what,
               .where = "command line",
               .next = "`slipway gfd " + std::string(tool) + " --help` shows the options"};
}

/// The first of the variables that is there; empty values count.
std::optional<std::string> environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return std::string(value);
  return std::nullopt;
}

Result<bool> parse_bool(const std::string& text, const std::string& where) {
  for (const char* word : {"true", "1", "t", "T", "TRUE", "True"})
    if (text == word) return true;
  for (const char* word : {"false", "0", "f", "F", "FALSE", "False", ""})
    if (text == word) return false;
  return Error{.code = ErrorCode::invalid, .what = "'" + text + "' is neither true nor false", .where = where};
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

constexpr std::size_t kLongestConfig = 1 << 20;

Status read_config_file(const std::string& path, Config& config) {
  if (path.empty()) return {};
  SLIPWAY_TRY(text, read_regular(path, kLongestConfig));
  SLIPWAY_TRY(file, nvidia::config::node_from_yaml(text, path));
  return take_upstream_config(file, config);
}

Status read_environment(ToolOptions& options) {
  if (const auto value = environment({"GFD_MIG_STRATEGY", "MIG_STRATEGY"})) {
    SLIPWAY_TRY(strategy, parse_mig_strategy(*value, "environment: MIG_STRATEGY"));
    options.config.mig_strategy = strategy;
  }
  if (const auto value = environment({"GFD_NO_TIMESTAMP"})) {
    SLIPWAY_TRY(none, parse_bool(*value, "environment: GFD_NO_TIMESTAMP"));
    options.config.timestamp = !none;
  }
  if (const auto value = environment({"GFD_FAIL_ON_INIT_ERROR", "FAIL_ON_INIT_ERROR"})) {
    SLIPWAY_TRY(fail, parse_bool(*value, "environment: FAIL_ON_INIT_ERROR"));
    options.fail_without_driver = fail;
  }
  if (const auto value = environment({"GFD_MACHINE_TYPE_FILE"})) options.config.machine_type_file = *value;
  if (const auto value = environment({"NODE_NAME"}); value && !value->empty()) options.node = *value;
  return {};
}

/// Words of the command line: options with a value, and switches.
struct Given {
  std::map<std::string, std::string> values;
  std::map<std::string, bool> switches;
};

/// The options of a tool, and whether they take a value.
std::map<std::string, bool> known_options(std::string_view tool) {
  std::map<std::string, bool> known{{"--output", true},
                                    {"--output-file", true},
                                    {"--driver-root", true},
                                    {"-o", true},
                                    {"--fail-on-init-error", false}};
  if (tool == "devices")
    known["--node-name"] = true;
  else
    known.insert({{"--mig-strategy", true},
                  {"--config-file", true},
                  {"--machine-type-file", true},
                  {"--no-timestamp", false},
                  {"--operator-labels", false},
                  {"--oneshot", false}});
  return known;
}

Result<Given> read_words(std::string_view tool, const std::vector<std::string>& words) {
  const auto known = known_options(tool);
  Given given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    const auto option = known.find(name);
    if (option == known.end()) return usage_error(tool, "there is no option '" + words[i] + "'");
    if (!option->second) {
      const auto value =
          equals == std::string::npos ? Result<bool>(true) : parse_bool(words[i].substr(equals + 1), name);
      if (!value) return usage_error(tool, value.error().what);
      given.switches[name] = *value;
    } else if (equals != std::string::npos) {
      given.values[name] = words[i].substr(equals + 1);
    } else if (i + 1 < words.size()) {
      given.values[name] = words[++i];
    } else {
      return usage_error(tool, name + " needs a value");
    }
  }
  return given;
}

Status take_words(const Given& given, ToolOptions& options) {
  const auto text = [&given](const char* name, std::string& place) {
    if (const auto found = given.values.find(name); found != given.values.end()) place = found->second;
  };
  const auto flag = [&given](const char* name, bool& place) {
    if (const auto found = given.switches.find(name); found != given.switches.end()) place = found->second;
  };
  if (const auto strategy = given.values.find("--mig-strategy"); strategy != given.values.end()) {
    auto parsed = parse_mig_strategy(strategy->second, "command line");
    if (!parsed) {
      Error wrong = std::move(parsed).error();
      wrong.code = ErrorCode::usage;
      return wrong;
    }
    options.config.mig_strategy = *parsed;
  }
  text("--output-file", options.output);
  text("--output", options.output);
  text("--machine-type-file", options.config.machine_type_file);
  text("--driver-root", options.config.driver_root);
  text("--node-name", options.node);
  text("-o", options.form);
  bool none = !options.config.timestamp;
  flag("--no-timestamp", none);
  options.config.timestamp = !none;
  flag("--operator-labels", options.config.operator_labels);
  flag("--fail-on-init-error", options.fail_without_driver);
  return {};
}

}  // namespace

Result<ToolOptions> read_tool_options(std::string_view tool, const std::vector<std::string>& arguments) {
  SLIPWAY_TRY(given, read_words(tool, arguments));
  ToolOptions options;
  options.node = host_name();
  std::string file = environment({"GFD_CONFIG_FILE", "CONFIG_FILE"}).value_or("");
  if (const auto named = given.values.find("--config-file"); named != given.values.end()) file = named->second;
  SLIPWAY_CHECK(read_config_file(file, options.config));
  SLIPWAY_CHECK(read_environment(options));
  SLIPWAY_CHECK(take_words(given, options));
  const std::string plain = tool == "devices" ? "yaml" : "text";
  if (!options.form.empty() && options.form != "text" && options.form != plain && options.form != "json")
    return usage_error(tool, "-o takes " + plain + " or json, not '" + options.form + "'");
  for (std::string* path : {&options.config.machine_type_file, &options.config.driver_root})
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  return options;
}

}  // namespace slipway::gfd
