// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/toml.hpp"

#include <sstream>

#include <slipway/merge/tomlplusplus.hpp>

namespace slipway::toolkit {
namespace {

template <class T>
std::string streamed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) list.push_back(to_json(value));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* date = node.as_date()) return streamed(date->get());
  if (const auto* time = node.as_time()) return streamed(time->get());
  if (const auto* moment = node.as_date_time()) return streamed(moment->get());
  return nullptr;
}

bool is_bare(const std::string& key) {
  return !key.empty() &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
}

/// A basic string of TOML is a JSON string.
std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace); }
std::string key_text(const std::string& key) { return is_bare(key) ? key : quoted(key); }

void write_value(const Json& value, std::string& out) {
  if (value.is_array()) {
    out += "[";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ", ";
      write_value(value[i], out);
    }
    out += "]";
  } else if (value.is_object()) {
    out += "{";
    const char* joint = " ";
    for (const auto& [key, member] : value.items()) {
      out += joint + key_text(key) + " = ";
      write_value(member, out);
      joint = ", ";
    }
    out += " }";
  } else if (value.is_string()) {
    out += quoted(value.get<std::string>());
  } else {
    out += canonical(value);
  }
}

void write_table(const Json& table, const std::string& name, std::string& out) {
  bool has_values = false;
  for (const auto& [key, value] : table.items()) has_values = has_values || !value.is_object();
  if (!name.empty() && (has_values || table.empty())) out += (out.empty() ? "[" : "\n[") + name + "]\n";
  for (const auto& [key, value] : table.items()) {
    if (value.is_object() || value.is_null()) continue;
    out += key_text(key) + " = ";
    write_value(value, out);
    out += "\n";
  }
  for (const auto& [key, value] : table.items())
    if (value.is_object()) write_table(value, (name.empty() ? "" : name + ".") + key_text(key), out);
}

}  // namespace

Result<Json> parse_toml(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (parsed) return to_json(parsed.table());
  const auto& error = parsed.error();
  const auto begin = error.source().begin;
  return Error{ErrorCode::invalid,
               "it is no TOML: " + std::string(error.description()),
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
