// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/slipway-runtime/command_line.hpp"

#include <algorithm>
#include <string_view>

namespace slipway::shim {
namespace {

using Names = std::vector<std::string_view>;

// Options whose value is the next word.
const Names& global_options() {
  static const Names names{"log", "log-format", "log-level", "root", "criu", "cgroup-manager"};
  return names;
}
const Names& create_options() {
  static const Names names{"bundle", "b", "config", "f", "pid-file", "console-socket", "pidfd-socket", "preserve-fds"};
  return names;
}
const Names& commands() {
  static const Names names{"checkpoint", "create", "delete", "events", "exec",  "features", "help",
                           "init",       "kill",   "list",   "mounts", "pause", "ps",       "restore",
                           "resume",     "run",    "spec",   "start",  "state", "update",   "version"};
  return names;
}

bool is_one_of(const Names& names, std::string_view word) { return std::ranges::count(names, word) != 0; }

struct Option {
  std::string name;
  std::string value;
};

/// Reads the option at `at` and advances: --name value, --name=value, -b value, and crun's -bvalue.
Option read_option(const std::vector<std::string>& words, std::size_t& at, const Names& with_value) {
  const std::string& word = words[at++];
  Option option{word.substr(word.find_first_not_of('-')), {}};
  if (const auto equals = option.name.find('='); equals != std::string::npos) {
    option.value = option.name.substr(equals + 1);
    option.name.erase(equals);
    return option;
  }
  if (is_one_of(with_value, option.name)) {
    if (at < words.size()) option.value = words[at++];
  } else if (!word.starts_with("--") && is_one_of(with_value, option.name.substr(0, 1))) {
    option.value = option.name.substr(1);
    option.name.erase(1);
  }
  return option;
}

bool is_option(const std::string& word) {
  return word.starts_with('-') && word.find_first_not_of('-') != std::string::npos;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line{.command = {}, .bundle = ".", .config_name = "config.json", .log = {}};
  std::size_t at = 0;
  while (at < words.size() && line.command.empty()) {
    if (!is_option(words[at])) {
      // A word that is not a command is the value of an unknown option.
      if (is_one_of(commands(), words[at])) line.command = words[at];
      ++at;
      continue;
    }
    const Option option = read_option(words, at, global_options());
    if (option.name == "log") line.log = option.value;
    if (option.name == "log-format") line.log_json = option.value == "json";
  }
  if (!line.makes_container()) return line;
  while (at < words.size()) {
    if (words[at] == "--") break;
    if (!is_option(words[at])) {
      ++at;
      continue;
    }
    const Option option = read_option(words, at, create_options());
    if (option.name == "bundle" || option.name == "b") line.bundle = option.value;
    if (option.name == "config" || option.name == "f") line.config_name = option.value;
  }
  return line;
}

}  // namespace slipway::shim
