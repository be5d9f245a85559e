// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/toml.hpp"

#include <algorithm>

#include "base/merge/toml_depth.hpp"
#include "base/merge/toml_json.hpp"

namespace slipway::toolkit {
namespace {

void write_table(const Json& table, const std::string& name, std::string& out) {
  bool has_values = false;
  for (const auto& [key, value] : table.items()) has_values = has_values || !value.is_object();
  if (!name.empty() && (has_values || table.empty())) out += (out.empty() ? "[" : "\n[") + name + "]\n";
  for (const auto& [key, value] : table.items()) {
    if (value.is_object() || value.is_null()) continue;
    out += merge::render_toml_name(key) + " = " + merge::render_toml(value).value_or("null") + "\n";
  }
  for (const auto& [key, value] : table.items())
    if (value.is_object()) write_table(value, (name.empty() ? "" : name + ".") + merge::render_toml_name(key), out);
}

}  // namespace

Result<Json> parse_toml(std::string_view text, const std::string& path) {
  if (const std::size_t deep = merge::find_deep_toml_key(text); deep != std::string_view::npos)
    return Error{ErrorCode::invalid,
                 "a key has more than " + std::to_string(merge::kMostKeyParts) + " parts",
                 path + ":" + std::to_string(std::ranges::count(text.substr(0, deep), '\n') + 1),
                 "correct the file; slipway leaves it as it is",
                 {}};
  const toml::parse_result parsed = toml::parse(text, path);
  if (parsed) return merge::json_from_toml(parsed.table(), [](const std::string& other) { return other; });
  const auto& error = parsed.error();
  const auto begin = error.source().begin;
  return Error{ErrorCode::invalid,
               "it is not TOML: " + std::string(error.description()),
               path + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column),
               "correct the file; slipway leaves it as it is",
               {}};
}

std::string to_toml(const Json& object) {
  std::string out;
  write_table(object, "", out);
  return out;
}

}  // namespace slipway::toolkit
