// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/commands.hpp>

#include "plugin_ops.hpp"
#include "src/text/read.hpp"

namespace slipway {

std::vector<ToolInfo> ToolTable::list() const {
  std::vector<ToolInfo> infos;
  for (const Tool& tool : tools_) infos.push_back({tool.name, tool.purpose, tool.line});
  return infos;
}

Result<int> ToolTable::run(std::string_view tool, const CommandWords& words, const Host& host, ToolIo& io) const {
  const auto found = std::ranges::find(tools_, tool, &Tool::name);
  if (found == tools_.end())
    return Error{
        .code = ErrorCode::usage, .what = "there is no tool '" + std::string(tool) + "'", .where = "command line"};
  if (found->run) return found->run(words, host, io);
  return Error{.code = ErrorCode::unsupported,
               .what = "the program of the tool '" + found->name + "' was not started",
               .next = "install slipway completely"};
}

namespace detail {
namespace {

/// Writes the members of an object that differ from their defaults. Null stands for any number.
class Members {
 public:
  void add(const char* name, const std::string& text) {
    if (!text.empty()) json_[name] = text;
  }
  void add(const char* name, const std::vector<std::string>& texts) {
    if (!texts.empty()) json_[name] = texts;
  }
  void add(const char* name, bool flag) {
    if (flag) json_[name] = true;
  }
  void add(const char* name, std::size_t count) {
    if (count != 0) json_[name] = count == kAnyNumber ? Json(nullptr) : Json(count);
  }
  Json& json() { return json_; }

 private:
  Json json_ = Json::object();
};

Json to_json(const CommandOption& option) {
  Members members;
  members.add("name", option.name);
  members.add("value", option.value);
  members.add("help", option.help);
  if (option.letter != 0) members.add("letter", std::string(1, option.letter));
  members.add("variables", option.variables);
  members.add("aliases", option.aliases);
  members.add("repeats", option.repeats);
  members.add("required", option.required);
  return members.json();
}

Json to_json(const CommandTable& line) {
  Members members;
  members.add("call", line.call);
  members.add("usage", line.usage);
  members.add("about", line.about);
  members.add("notes", line.notes);
  members.add("least_arguments", line.least_arguments);
  members.add("most_arguments", line.most_arguments);
  members.add("examples", line.examples);
  members.add("last_counts", line.last_counts);
  members.add("empty_variables", line.empty_variables);
  for (const CommandOption& option : line.options) members.json()["options"].push_back(to_json(option));
  return members.json();
}

}  // namespace

Json tools_to_json(const std::vector<ToolInfo>& tools) {
  Json list = Json::array();
  for (const ToolInfo& tool : tools)
    list.push_back({{"name", tool.name}, {"purpose", tool.purpose}, {"line", to_json(tool.line)}});
  return list;
}

CommandWords words_from_json(const Json& request) {
  CommandWords words;
  const Json* const given = member(request, "options");
  const Json options = given != nullptr && given->is_object() ? *given : Json::object();
  for (const auto& [name, values] : options.items())
    if (auto texts = texts_or_none(&values); !texts.empty()) words.values[name] = std::move(texts);
  words.arguments = texts_or_none(member(request, "arguments"));
  return words;
}

}  // namespace detail
}  // namespace slipway
