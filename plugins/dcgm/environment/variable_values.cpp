// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include <slipway/text.hpp>

#include "dcgm/environment/variables.hpp"

namespace slipway::dcgm {
namespace {

using Kind = Variable::Kind;

Error wrong(const Variable& variable, const std::string& value, const std::string& next) {
  return Error{.code = ErrorCode::usage,
               .what = "'" + value + "' is not a value of " + std::string(variable.name),
               .where = "environment variable " + std::string(variable.name),
               .next = next};
}

/// The words that Go's strconv.ParseBool takes.
Result<bool> read_flag(const Variable& variable, const std::string& value) {
  constexpr std::array kTrue{"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array kFalse{"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(kTrue, value) != kTrue.end()) return true;
  if (value.empty() || std::ranges::find(kFalse, value) != kFalse.end()) return false;
  return wrong(variable, value, "write true or false");
}

Status set_interval(const Variable& variable, const std::string& value, Json& section) {
  unsigned milliseconds = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
  if (problem != std::errc{} || end != value.data() + value.size())
    return wrong(variable, value, "write a number of milliseconds, such as 30000");
  section[std::string(variable.key)] = value + "ms";
  return {};
}

}  // namespace

Result<bool> asks_for_something(const Variable& variable, const std::string& value) {
  if (value.empty() || (!variable.idle.empty() && value == variable.idle)) return false;
  if (variable.kind != Kind::flag) return true;
  SLIPWAY_TRY(on, read_flag(variable, value));
  // An honoured variable that is false overrides a spec that says true.
  return on || variable.treatment == Variable::Treatment::honoured;
}

Status set_key(const Variable& variable, const std::string& value, Json& section) {
  const std::string key(variable.key);
  if (variable.kind == Kind::milliseconds) return set_interval(variable, value, section);
  if (variable.kind == Kind::flag) {
    SLIPWAY_TRY(on, read_flag(variable, value));
    section[key] = on;
    return {};
  }
  if (variable.kind == Kind::list) {
    section[key] = Json::array();
    for (const std::string& word : split(value, ','))
      if (!trimmed(word).empty()) section[key].push_back(std::string(trimmed(word)));
    return {};
  }
  if (variable.kind == Kind::path && !value.starts_with('/')) return wrong(variable, value, "give an absolute path");
  if (variable.kind == Kind::engine) section["engine"] = "external";
  section[key] = value;
  return {};
}

}  // namespace slipway::dcgm
