// SPDX-License-Identifier: Apache-2.0
#include "core/spec/yaml_value.hpp"

#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Type = SchemaKey::Type;

/// True for a word that every version of YAML reads as text.
bool is_plain(const std::string& text) {
  if (text.empty() || text.size() > 80 || other_boolean(text) || text == "null" || text == "Null" || text == "NULL")
    return false;
  const bool words = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/');
  });
  const char first = text.front();
  return words && (std::isalpha(static_cast<unsigned char>(first)) != 0 || first == '/');
}

std::string text_yaml(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = canonical(Json(text));
  for (std::size_t at = quoted.find('\x7F'); at != std::string::npos; at = quoted.find('\x7F', at))
    quoted.replace(at, 1, "\\u007f");  // JSON allows it unescaped, YAML does not
  return quoted;
}

Json required_keys(const SchemaKey& schema) {
  Json object = Json::object();
  for (const auto& [name, child] : schema.keys) {
    if (!child.required) continue;
    Json value = first_value(child);
    if (value.is_null()) return nullptr;
    object[name] = std::move(value);
  }
  return object;
}

}  // namespace

std::string flow_yaml(const Json& value) {
  if (value.is_string()) return text_yaml(value);
  if (!value.is_structured()) return canonical(value);
  std::vector<std::string> texts;
  for (const auto& [key, item] : value.items())
    texts.push_back((value.is_object() ? text_yaml(key) + ": " : "") + flow_yaml(item));
  return value.is_object() ? "{" + joined(texts) + "}" : "[" + joined(texts) + "]";
}

Json example_value(const SchemaKey& schema) {
  if (schema.example.empty()) return nullptr;
  if (schema.type == Type::integer) return parse_integer(schema.example).value_or(0);
  if (schema.type == Type::boolean) return schema.example == "true";
  const bool structured = schema.example.front() == '[' || schema.example.front() == '{';
  const bool may_be = schema.type != Type::string && schema.type != Type::path && schema.type != Type::enumeration;
  if (structured && may_be)
    if (Json value = Json::parse(schema.example, nullptr, false); !value.is_discarded()) return value;
  return schema.example;
}

Json first_value(const SchemaKey& schema) {
  if (!schema.default_value.is_null()) return schema.default_value;
  if (!schema.example.empty()) return example_value(schema);
  switch (schema.type) {
    case Type::string:
      return schema.pattern.empty() ? Json("change-me") : Json();
    case Type::any:
      return "change-me";
    case Type::integer:
      return 0;
    case Type::boolean:
      return false;
    case Type::enumeration:
      return schema.values.empty() ? Json() : Json(schema.values.front());
    case Type::list:
      return Json::array();
    case Type::map:
      return Json::object();
    case Type::object:
      return required_keys(schema);
    case Type::artifact_source:
      return "oci://registry.example.com/change-me";
    case Type::path:
      return "/path/to/file";
    case Type::secret:
      return Json{{"file", "/etc/slipway/secret"}};
  }
  return nullptr;
}

}  // namespace slipway::core
