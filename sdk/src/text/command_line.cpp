// SPDX-License-Identifier: Apache-2.0
#include <slipway/command_line.hpp>
#include <slipway/text.hpp>

namespace slipway {

Error CommandTable::wrong(std::string what) const {
  return {ErrorCode::usage, std::move(what), "command line", "`" + call + " --help` lists its options", {}};
}

std::string CommandWords::text(std::string_view name, std::string_view otherwise) const {
  const auto found = values.find(name);
  return found == values.end() ? std::string(otherwise) : found->second.back();
}

bool CommandWords::flag(std::string_view name, bool otherwise) const {
  return text(name, otherwise ? "true" : "false") == "true";
}

std::vector<std::string> CommandWords::texts(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> CommandWords::list(std::string_view name) const {
  return split_list(joined(texts(name), ","));
}

bool may_lack_value(const CommandOption& option) { return option.value.starts_with("[="); }

std::vector<std::string> choices_of(const CommandOption& option) {
  const bool is_choice = !option.value.empty() && option.value.front() >= 'a' && option.value.front() <= 'z';
  return is_choice ? split(option.value, '|') : std::vector<std::string>();
}

}  // namespace slipway
