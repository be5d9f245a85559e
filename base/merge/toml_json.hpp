// SPDX-License-Identifier: Apache-2.0
// base/merge/toml_json.hpp - converts values of TOML to JSON, and JSON to values of TOML.
#pragma once

#include <cmath>
#include <sstream>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "base/merge/tomlplusplus.hpp"

namespace slipway::merge {

/// @param other  returns the JSON for a date, a time, NaN or infinity, from its text
template <class Other>
Json json_from_toml(const toml::node& node, const Other& other) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [name, member] : *table) object[std::string(name.str())] = json_from_toml(member, other);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& element : *array) list.push_back(json_from_toml(element, other));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* real = node.as_floating_point(); real != nullptr && std::isfinite(real->get())) return real->get();
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return other(text.str());
}

/// Writes a basic string: TOML has the same escapes as JSON, except for \/ and surrogate pairs, which dump() does not
/// make, and DEL, which TOML requires to be escaped.
inline std::string render_toml_text(const std::string& text) {
  std::string result;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    result += c == '\x7f' ? "\\u007F" : std::string(1, c);
  return result;
}

/// Writes a name, bare if allowed, else quoted.
inline std::string render_toml_name(const std::string& name) {
  constexpr const char* kBare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const bool bare = !name.empty() && name.find_first_not_of(kBare) == std::string::npos;
  return bare ? name : render_toml_text(name);
}

/// Errors: `unsupported` for null, which TOML does not have.
inline Result<std::string> render_toml(const Json& value) {
  if (value.is_string()) return render_toml_text(value.get<std::string>());
  if (value.is_null())
    return Error{ErrorCode::unsupported, "TOML has no null, so null cannot be set as a value", {}, {}, {}};
  if (!value.is_structured()) return value.dump();  // numbers and booleans read the same; 1.0 stays a float
  std::string text;
  if (value.is_array()) {
    for (const Json& element : value) {
      SLIPWAY_TRY(item, render_toml(element));
      text += (text.empty() ? "" : ", ") + item;
    }
    return "[" + text + "]";
  }
  for (const auto& [name, member] : value.items()) {
    SLIPWAY_TRY(item, render_toml(member));
    text += (text.empty() ? " " : ", ") + render_toml_name(name) + " = " + item;
  }
  return text.empty() ? std::string("{}") : "{" + text + " }";
}

}  // namespace slipway::merge
