// SPDX-License-Identifier: Apache-2.0
#include "mig/tools/hooks.hpp"

#include <algorithm>
#include <array>

#include <slipway/process/child_process.hpp>
#include <slipway/text.hpp>

#include "nvidia/config/config_map.hpp"

namespace slipway::mig {
namespace {

using nvidia::config::Node;

constexpr std::array kNames{"apply-start", "pre-apply-mode", "pre-apply-config", "apply-exit"};
constexpr std::size_t kLastLines = 5;

Status take_environment(const Node& node, Hook& hook) {
  if (!node.is_null() && !node.is_map()) return node.wrong("envs is a map of names to values", "write {NAME: value}");
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    SLIPWAY_TRY(value, node.items[i].is_null() ? Result<std::string>(std::string()) : node.items[i].string());
    hook.environment[node.keys[i]] = value;
  }
  return {};
}

Status take_member(const std::string& key, const Node& node, Hook& hook) {
  if (key == "envs") return take_environment(node, hook);
  if (node.is_null()) return {};
  if (key == "args") {
    if (!node.is_list()) return node.wrong("args is a list of strings", "write [-c, \"echo hello\"]");
    SLIPWAY_TRY(words, node.strings());
    hook.arguments = words;
    return {};
  }
  if (key != "command" && key != "workdir")
    return node.wrong("unexpected field '" + key + "'", suggestion(key, {"workdir", "command", "args", "envs"},
                                                                   "a program has workdir, command, args and envs"));
  SLIPWAY_TRY(text, node.string());
  (key == "command" ? hook.command : hook.folder) = text;
  return {};
}

Result<Hook> read_hook(const Node& node) {
  if (!node.is_map()) return node.wrong("a hook is a map", "write `command:` and `args:` in it");
  Hook hook;
  for (std::size_t i = 0; i < node.items.size(); ++i) SLIPWAY_CHECK(take_member(node.keys[i], node.items[i], hook));
  if (hook.command.empty()) return node.wrong("this hook has no command", "name the program: `command: /bin/sh`");
  return hook;
}

Result<std::vector<Hook>> read_list(const Node& node) {
  std::vector<Hook> hooks;
  if (!node.is_null() && !node.is_list()) return node.wrong("a hook's programs are a list", "write [{command: …}]");
  for (const Node& item : node.items) {
    SLIPWAY_TRY(hook, read_hook(item));
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

/// This C library's posix_spawn(3) cannot change the folder; sh(1) can, and then executes the program.
std::vector<std::string> words_of(const Hook& hook) {
  std::vector<std::string> words;
  if (!hook.folder.empty()) words = {"/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", hook.folder};
  words.push_back(hook.command);
  words.insert(words.end(), hook.arguments.begin(), hook.arguments.end());
  return words;
}

void log_lines(const std::string& text, ToolIo& io) {
  for (const std::string& line : lines_of(text)) io.log(line);
}

Error failed(const std::string& name, const Hook& hook, const std::string& why, const std::string& words) {
  Error error{.code = ErrorCode::io,
              .what = "the hook " + name + " failed: " + hook.command + ": " + why,
              .where = hook.folder,
              .next = "correct the hook, or leave --hooks-file out"};
  std::vector<std::string> lines = lines_of(words);
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  for (const std::string& line : lines) error.details.emplace_back("said", line);
  return error;
}

}  // namespace

Result<Hooks> Hooks::from_yaml(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(config, nvidia::config::only_config(text, file));
  const Node& document = config.node;
  if (!document.is_map()) return document.wrong("this is not a hooks file", "write `version: v1` and `hooks:`");
  Hooks hooks;
  for (std::size_t i = 0; i < document.items.size(); ++i) {
    const Node& node = document.items[i];
    if (document.keys[i] == "version") continue;  // upstream ignores the version
    if (document.keys[i] != "hooks")
      return node.wrong("unexpected field '" + document.keys[i] + "'", "the fields are version and hooks");
    if (!node.is_null() && !node.is_map()) return node.wrong("hooks is a map of names", "write `apply-start:` in it");
    for (std::size_t k = 0; k < node.items.size(); ++k) {
      SLIPWAY_TRY(list, read_list(node.items[k]));
      if (std::ranges::count(kNames, node.keys[k]) == 0) hooks.unknown_.push_back(node.keys[k]);
      hooks.by_name_[node.keys[k]] = std::move(list);
    }
  }
  return hooks;
}

Status Hooks::run(const std::string& name, const std::map<std::string, std::string>& variables, ToolIo& io) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return {};
  for (const Hook& hook : found->second) {
    std::map<std::string, std::string> all = variables;  // insert() keeps these
    all.insert(hook.environment.begin(), hook.environment.end());
    ChildProgram program{.argv = words_of(hook), .environment = {}};
    for (const auto& [key, value] : all) program.environment.push_back(key + "=" + value);
    io.log("hook " + name + ": " + hook.command);
    const auto result = run_child(std::move(program), {});
    if (!result) return failed(name, hook, result.error().what, {});
    log_lines(result->output, io);
    log_lines(result->errors, io);
    if (exit_status_of(result->status) != 0)
      return failed(name, hook, ending_of(result->status), result->output + result->errors);
  }
  return {};
}

}  // namespace slipway::mig
