// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "toml_tree.hpp"

namespace slipway::merge {
namespace {

/// A basic string: what JSON escapes TOML escapes alike, but for \/ and surrogate pairs, which dump() does not make,
/// and DEL, which TOML wants escaped.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    result += c == '\x7f' ? "\\u007F" : std::string(1, c);
  return result;
}

}  // namespace

std::string render_toml_name(const std::string& name) {
  constexpr const char* kBare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const bool bare = !name.empty() && name.find_first_not_of(kBare) == std::string::npos;
  return bare ? name : quoted(name);
}

Result<std::string> render_toml(const Json& value) {
  if (value.is_string()) return quoted(value.get<std::string>());
  if (value.is_null()) return Error{ErrorCode::unsupported, "TOML has no null, so it cannot be set", {}, {}, {}};
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
