// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/tools.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <slipway/text.hpp>

#include "base/command_line/read_words.hpp"
#include "base/log/lines.hpp"

namespace slipway::command_line {
namespace {

constexpr std::size_t kMostTools = 200;
constexpr std::size_t kMostOptions = 500;
constexpr std::size_t kMostTexts = 500;
constexpr std::size_t kLongestText = std::size_t{64} << 10U;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of all tables of a component

Error defect(const std::string& what) {
  return {ErrorCode::plugin_defect, what, {}, "report it to the plugin's authors", {}};
}

bool is_plain(const std::string& text) { return text.size() <= kLongestText && base::printable(text, true) == text; }

/// Reads the members of an object by type, and remembers the first invalid one. Missing members keep their defaults.
class Members {
 public:
  Members(std::string name, const Json& object) : name_(std::move(name)), object_(object) {
    if (!object.is_object()) problem_ = name_ + " is not an object";
  }

  void read(const char* key, std::string& text) {
    if (const Json* const value = at(key)) take(key, *value, text);
  }
  void read(const char* key, bool& flag) {
    const Json* const value = at(key);
    if (value != nullptr && !value->is_boolean()) wrong(key, "is not true or false");
    if (value != nullptr && value->is_boolean()) flag = value->get<bool>();
  }
  /// @param null  the meaning of null
  void read(const char* key, std::size_t& count, std::size_t null) {
    const Json* const value = at(key);
    if (value == nullptr) return;
    if (value->is_null())
      count = null;
    else if (value->is_number_unsigned() && value->get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max())
      count = value->get<std::size_t>();
    else
      wrong(key, "is not a number of words");
  }
  void read(const char* key, std::vector<std::string>& texts) {
    for (const Json& value : list(key, kMostTexts)) take(key, value, texts.emplace_back());
  }
  /// Returns a list of at most that many elements; empty when it is invalid or missing.
  Json list(const char* key, std::size_t most) {
    const Json* const value = at(key);
    if (value == nullptr) return Json::array();
    if (value->is_array() && value->size() <= most) return *value;
    wrong(key, "is not a list of at most " + std::to_string(most));
    return Json::array();
  }
  void wrong(const std::string& key, const std::string& what) {
    if (problem_.empty()) problem_ = "`" + key + "` of " + name_ + " " + what;
  }
  Status status() const { return problem_.empty() ? Status() : Status(defect(problem_)); }

 private:
  const Json* at(const char* key) const {
    const auto found = object_.is_object() ? object_.find(key) : object_.end();
    return object_.is_object() && found != object_.end() ? &*found : nullptr;
  }
  void take(const char* key, const Json& value, std::string& text) {
    if (!value.is_string() || !is_plain(value.get_ref<const std::string&>()))
      return wrong(key, "is not a plain text of at most " + std::to_string(kLongestText) + " bytes");
    text = value.get<std::string>();
  }

  std::string name_;
  const Json& object_;
  std::string problem_;
};

Result<CommandOption> option_from_json(const std::string& tool, const Json& value) {
  CommandOption option;
  Members members("an option of the tool " + tool, value);
  std::string letter;
  members.read("name", option.name);
  members.read("value", option.value);
  members.read("help", option.help);
  members.read("letter", letter);
  members.read("variables", option.variables);
  members.read("aliases", option.aliases);
  members.read("repeats", option.repeats);
  members.read("required", option.required);
  if (letter.size() > 1) members.wrong("letter", "is more than one letter");
  if (option.value.find('\n') != std::string::npos) members.wrong("value", "has more than one line");
  SLIPWAY_CHECK(members.status());
  option.letter = letter.empty() ? '\0' : letter.front();
  return option;
}

Result<CommandTable> line_from_json(const std::string& tool, const Json& value) {
  CommandTable line;
  Members members("the line of the tool " + tool, value);
  members.read("call", line.call);
  members.read("usage", line.usage);
  members.read("about", line.about);
  members.read("notes", line.notes);
  members.read("least_arguments", line.least_arguments, 0);
  members.read("most_arguments", line.most_arguments, kAnyNumber);
  members.read("examples", line.examples);
  members.read("last_counts", line.last_counts);
  members.read("empty_variables", line.empty_variables);
  const Json options = members.list("options", kMostOptions);
  SLIPWAY_CHECK(members.status());
  for (const Json& each : options) {
    SLIPWAY_TRY(option, option_from_json(tool, each));
    line.options.push_back(std::move(option));
  }
  if (const Status distinct = check_options(line.options); !distinct)
    return defect("the tool " + tool + ": " + distinct.error().what);
  if (line.least_arguments > line.most_arguments)
    return defect("the tool " + tool + " requires more words than it allows");
  return line;
}

/// A name that is safe in a shell and in a help text.
bool is_tool_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= 100 && name.front() != '-' && std::ranges::all_of(name, fits);
}

Result<ToolInfo> tool_from_json(const std::string& component, const Json& value) {
  ToolInfo tool;
  Members members("a tool", value);
  members.read("name", tool.name);
  members.read("purpose", tool.purpose);
  SLIPWAY_CHECK(members.status());
  if (!is_tool_name(tool.name))
    return defect("'" + tool.name + "' is not the name of a tool: lower-case letters, digits and '-'");
  const auto line = value.find("line");
  SLIPWAY_TRY(read, line_from_json(tool.name, line == value.end() ? Json::object() : *line));
  if (read.call.empty()) read.call = "slipway " + component + " " + tool.name;
  if (read.usage.empty()) read.usage = "[options]";
  if (read.about.empty()) read.about = tool.purpose;
  tool.line = std::move(read);
  return tool;
}

}  // namespace

const std::vector<CommandOption>& options_for_tools() {
  static const std::vector<CommandOption> all{
      {.name = "sim",
       .value = "PROFILE",
       .help = "a simulated GPU host, for example h100x8; --root DIR is then its root"},
      {.name = "log-format", .value = "text|json", .help = "format of the log on standard error"},
      {.name = "verbose", .help = "print more, and log at level debug", .letter = 'v'},
      {.name = "help", .help = "this text", .letter = 'h'}};
  return all;
}

Result<std::vector<ToolInfo>> tools_from_json(const std::string& component, const Json& reply) {
  if (reply.dump(-1, ' ', false, Json::error_handler_t::replace).size() > kMostBytes)
    return defect("component " + component + ": its tools take more than " + std::to_string(kMostBytes) + " bytes");
  if (!reply.is_array() || reply.size() > kMostTools)
    return defect("component " + component + ": its tools are not a list of at most " + std::to_string(kMostTools));
  std::vector<ToolInfo> tools;
  std::set<std::string> names;
  for (const Json& each : reply) {
    auto tool = tool_from_json(component, each);
    if (!tool) return defect("component " + component + ": " + tool.error().what);
    if (!names.insert(tool->name).second)
      return defect("component " + component + ": two of its tools have the name '" + tool->name + "'");
    tools.push_back(std::move(tool).value());
  }
  return tools;
}

Result<ToolInfo> find_tool(const std::string& component, const std::vector<ToolInfo>& tools, const std::string& name) {
  std::vector<std::string> names;
  for (const ToolInfo& tool : tools) {
    if (tool.name == name) return tool;
    names.push_back(tool.name);
  }
  return Error{.code = ErrorCode::usage,
               .what = component + " has no tool '" + name + "'",
               .where = "command line",
               .next = suggestion(name, names, "its tools are " + joined(names))};
}

std::string tools_text(const std::string& component, const std::vector<ToolInfo>& tools) {
  std::size_t width = 0;
  for (const ToolInfo& tool : tools) width = std::max(width, width_of(tool.name));
  std::string text = "Usage: slipway " + component + " TOOL [options]\n\n";
  for (const ToolInfo& tool : tools) text += "  " + padded(tool.name, width + 2) + tool.purpose + '\n';
  return text + "\n`slipway " + component + " TOOL --help` shows the options of one.\n";
}

std::string tool_text(const ToolInfo& tool) {
  CommandTable line = tool.line;
  line.options.insert(line.options.end(), options_for_tools().begin(), options_for_tools().end());
  return help_text(line);
}

Result<CommandTable> with_options(const ToolInfo& tool, const std::vector<CommandOption>& more) {
  CommandTable line = tool.line;
  line.options.insert(line.options.end(), more.begin(), more.end());
  if (const Status distinct = check_options(line.options); !distinct)
    return defect("the tool " + tool.name + " has an option of slipway's own: " + distinct.error().what);
  return line;
}

Json tool_request(const std::string& tool, const CommandWords& words) {
  return {{"tool", tool}, {"options", words.values}, {"arguments", words.arguments}};
}

}  // namespace slipway::command_line
