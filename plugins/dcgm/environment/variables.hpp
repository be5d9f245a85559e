// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/environment/variables.hpp - the variables of dcgm-exporter: the key of the spec for each, or the reason
// why there is none.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway::dcgm {

struct Variable {
  enum class Treatment {
    honoured,  ///< it is `key`
    refused,   ///< asking for it is an error, with `reason`
    needless,  ///< has no effect here, or already applies; `reason` says which
  };
  enum class Kind { text, path, flag, milliseconds, engine, list };
  std::string_view name;
  std::string_view flag;  ///< dcgm-exporter's command-line option: "--collectors"
  std::string_view letter;
  Treatment treatment = Treatment::honoured;
  std::string_view key;  ///< of the spec
  Kind kind = Kind::text;
  std::string_view idle;  ///< a value that changes nothing, besides the empty one and, for a flag, false
  std::string_view reason;
};

/// Returns all variables of dcgm-exporter, in the order of its documentation.
std::span<const Variable> variables();

struct EnvironmentSpec {
  Spec spec;                          ///< the file's spec, overridden by the environment
  std::vector<std::string> taken;     ///< names of the variables that took effect
  std::vector<std::string> warnings;  ///< a sentence each
};

/// @param entries  "NAME=value"
/// Errors: `usage` with the variable's name: it is refused, or its value has the wrong type.
Result<EnvironmentSpec> with_environment(const Spec& spec, const std::vector<std::string>& entries);

/// Rewrites an error about a spec key that a variable has set into an error about the variable.
Error blamed_on_variable(Error error, const std::vector<std::string>& taken);

/// False for a value that changes nothing. Errors: `usage` a value of the wrong type.
Result<bool> asks_for_something(const Variable& variable, const std::string& value);

/// Sets the key in the component's section. Errors: `usage` a value of the wrong type.
Status set_key(const Variable& variable, const std::string& value, Json& section);

}  // namespace slipway::dcgm
