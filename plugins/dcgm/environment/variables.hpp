// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/environment/variables.hpp - the variables of dcgm-exporter: which key of the spec each is, or why none.
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
    needless,  ///< what it asks for is so anyhow, or has nothing to be about; `reason`
  };
  enum class Kind { text, path, flag, milliseconds, engine, list };
  std::string_view name;
  std::string_view flag;  ///< of dcgm-exporter's command line: "--collectors"
  std::string_view letter;
  Treatment treatment = Treatment::honoured;
  std::string_view key;  ///< of the spec
  Kind kind = Kind::text;
  std::string_view idle;  ///< the value that asks for nothing, besides an empty one and, of a flag, false
  std::string_view reason;
};

/// All that dcgm-exporter has, in the order of its documentation.
std::span<const Variable> variables();

struct EnvironmentSpec {
  Spec spec;                          ///< with what the environment says in the place of what the file says
  std::vector<std::string> taken;     ///< names of the variables that count
  std::vector<std::string> warnings;  ///< a sentence each
};

/// @param entries  "NAME=value"
/// Errors: `usage` naming the variable: one that is refused, or a value that its kind does not have.
Result<EnvironmentSpec> with_environment(const Spec& spec, const std::vector<std::string>& entries);

/// An error about a key of the spec that a variable has set is one about the variable.
Error blamed_on_variable(Error error, const std::vector<std::string>& taken);

/// False for a value that leaves things as they are without the variable. Errors: `usage` no value of that kind.
Result<bool> asks_for_something(const Variable& variable, const std::string& value);

/// Puts it into the component's section. Errors: `usage`, likewise.
Status set_key(const Variable& variable, const std::string& value, Json& section);

}  // namespace slipway::dcgm
