// SPDX-License-Identifier: Apache-2.0
#include "toolkit/options.hpp"

#include <slipway/text.hpp>

namespace slipway::toolkit {
namespace {

Error unknown_option(const std::string& name, const Options& known, const std::string& tool) {
  std::vector<std::string> names;
  for (const auto& [option, unused] : known) names.push_back(option);
  const std::string near = nearest_word(name, names);
  Error error = usage_error(tool, "unknown option '" + name + "'");
  if (!near.empty()) error.next = "did you mean " + near + "?";
  return error;
}

}  // namespace

Option text_option(std::string& into) {
  return {false, [&into](const std::string& value) -> Status {
            into = value;
            return {};
          }};
}

Option list_option(std::vector<std::string>& into) {
  return {false, [&into](const std::string& value) -> Status {
            for (std::string& part : split_list(value)) into.push_back(std::move(part));
            return {};
          }};
}

Option set_option(std::set<std::string>& into) {
  return {false, [&into](const std::string& value) -> Status {
            for (std::string& part : split_list(value)) into.insert(std::move(part));
            return {};
          }};
}

Option flag_option(const std::string& name, bool& into, const std::string& tool) {
  return {true, [&into, name, tool](const std::string& value) -> Status {
            if (!value.empty() && value != "true" && value != "false")
              return usage_error(tool, name + " takes no value but true or false");
            into = value != "false";
            return {};
          }};
}

Error usage_error(const std::string& tool, const std::string& what) {
  return {ErrorCode::usage, what, "command line", "`" + tool + " --help` lists the options", {}};
}

Result<std::set<std::string>> take_options(const std::vector<std::string>& words, const Options& known,
                                           const std::string& tool) {
  std::set<std::string> given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto option = known.find(name);
    if (option == known.end()) return unknown_option(name, known, tool);
    std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (!option->second.flag && equals == std::string::npos) {
      if (i + 1 == words.size()) return usage_error(tool, name + " needs a value");
      value = words[++i];
    }
    SLIPWAY_CHECK(option->second.take(value));
    given.insert(name);
  }
  return given;
}

}  // namespace slipway::toolkit
