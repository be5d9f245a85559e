// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/switch.hpp - a switch of one of NVIDIA's programs, and slipway's treatment of it;
// docs/nvidia-switches.md lists them all.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/text.hpp>

namespace slipway::nvidia {

struct Switch {
  enum class Treatment {
    honoured,  ///< it has the same meaning as in NVIDIA's program
    refused,   ///< asking for it is an error, with `reason`
    needless,  ///< has no effect here, or already applies; `reason` says which
  };
  std::string_view name;  ///< a variable, or a dotted key of config.toml
  Treatment treatment = Treatment::honoured;
  std::string_view key;   ///< the spec key with the same meaning; empty: only the switch exists
  std::string_view idle;  ///< values that change nothing, separated by |; an empty value never does
  std::string_view reason;
};

/// Idle values of flags that are refused.
inline constexpr std::string_view kOff = "false|False|FALSE|f|F|0";

constexpr Switch honoured(std::string_view name, std::string_view key = "") {
  return {name, Switch::Treatment::honoured, key, "", ""};
}
constexpr Switch refused(std::string_view name, std::string_view idle, std::string_view reason) {
  return {name, Switch::Treatment::refused, "", idle, reason};
}
constexpr Switch needless(std::string_view name, std::string_view reason, std::string_view idle = "") {
  return {name, Switch::Treatment::needless, "", idle, reason};
}

inline const Switch* find_switch(std::span<const Switch> switches, std::string_view name) {
  const auto found = std::ranges::find(switches, name, &Switch::name);
  return found == switches.end() ? nullptr : &*found;
}

inline bool asks_for_something(const Switch& one, std::string_view value) {
  const auto words = split<std::string_view>(one.idle, '|');
  return !value.empty() && std::ranges::count(words, value) == 0;
}

/// Returns "; did you mean 'X'?" for an unknown name.
inline std::string meant(std::span<const Switch> switches, std::string_view name) {
  std::vector<std::string> known;
  for (const Switch& one : switches) known.emplace_back(one.name);
  return did_you_mean(name, known);
}

/// Checks the entries of a component's key `env` against the variables of NVIDIA's program.
/// @param where  "spec.components.runtime.env"
/// @return warnings: names that the program does not have, and variables without effect
/// Errors: `usage` with a refused variable.
inline Result<std::vector<std::string>> check_switches(std::span<const Switch> switches, const Json& env,
                                                       const std::string& program, const std::string& where) {
  std::vector<std::string> warnings;
  if (!env.is_object()) return warnings;
  for (const auto& [name, value] : env.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    const Switch* const known = find_switch(switches, name);
    if (known == nullptr) {
      warnings.push_back(where + "." + name + ": " + program + " has no such variable, so slipway ignores it" +
                         meant(switches, name));
      continue;
    }
    if (known->treatment == Switch::Treatment::honoured || !asks_for_something(*known, text)) continue;
    const std::string reason(known->reason);
    if (known->treatment == Switch::Treatment::refused)
      return Error{
          .code = ErrorCode::usage,
          .what = name + "=" + text + " asks for something that slipway does not do by this variable: " + reason,
          .where = where + "." + name,
          .next = "remove the variable; docs/nvidia-switches.md lists them all"};
    warnings.push_back(where + "." + name + " has no effect: " + reason);
  }
  return warnings;
}

/// Checks the environment of the process: variables that are refused in the key `env` are refused here too; needless
/// ones are ignored, since other programs may have set them.
/// @param value_of  returns the value of a variable; empty: not set
/// Errors: `usage` with a refused variable.
template <class ValueOf>
Status check_process(std::span<const Switch> switches, const ValueOf& value_of) {
  Json env = Json::object();
  for (const Switch& one : switches)
    if (one.treatment == Switch::Treatment::refused) env[std::string(one.name)] = value_of(std::string(one.name));
  auto checked = check_switches(switches, env, "", "environment");
  return checked ? Status() : Status(std::move(checked).error());
}

}  // namespace slipway::nvidia
