// SPDX-License-Identifier: Apache-2.0
#include "base/merge/yaml_value.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace slipway::merge {
namespace {

constexpr std::array kNulls{"", "~", "null", "Null", "NULL"};
constexpr std::array kTrue{"true", "True", "TRUE"};
constexpr std::array kFalse{"false", "False", "FALSE"};
/// YAML 1.1 readers read these as booleans; they are quoted when written, and strings when read.
constexpr std::array kOldBooleans{"y", "n", "yes", "no", "on", "off"};

template <class List>
bool among(const List& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(), [&](const char* word) { return text == word; });
}

template <class Number>
bool whole(const std::string& text, Number& number, int base) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), number, base);
  return problem == std::errc() && end == text.data() + text.size();
}

/// Reads a plain scalar by the core schema.
Json plain(const std::string& text) {
  if (among(kNulls, text)) return nullptr;
  if (among(kTrue, text)) return true;
  if (among(kFalse, text)) return false;
  std::int64_t integer = 0;
  if (whole(text, integer, 10)) return integer;
  if (text.starts_with("0x") && whole(text.substr(2), integer, 16)) return integer;
  if (text.starts_with("0o") && whole(text.substr(2), integer, 8)) return integer;
  const bool numeric = text.find_first_not_of("+-.0123456789eE") == std::string::npos &&
                       text.find_first_of("0123456789") != std::string::npos;
  double real = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), real);
  if (numeric && problem == std::errc() && end == text.data() + text.size()) return real;
  return text;
}

Json scalar(const YAML::Node& node) {
  const std::string& tag = node.Tag();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return node.Scalar();
  if (tag == "?" || tag.empty() || tag.starts_with("tag:yaml.org,2002:")) return plain(node.Scalar());
  return Json::array({"\x01yaml", tag, node.Scalar()});
}

/// True when every reader reads it as this string.
bool safe_plain(const std::string& text) {
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/' || text[0] == '_'))
    return false;
  const bool simple = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '.' || c == '-' || c == '+';
  });
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return simple && !among(kNulls, lower) && lower != "true" && lower != "false" && !among(kOldBooleans, lower);
}

std::string rendered(const std::string& text) {
  if (safe_plain(text)) return text;
  std::string quoted;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    quoted += c == '\x7f' ? "\\x7f" : std::string(1, c);
  return quoted;
}

}  // namespace

Json to_json(const YAML::Node& node, std::string& duplicate) {
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& element : node) list.push_back(to_json(element, duplicate));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json object = Json::object();
  for (const auto& member : node) {
    const std::string name =
        member.first.IsScalar() ? member.first.Scalar() : canonical(to_json(member.first, duplicate));
    if (object.contains(name)) duplicate = name;
    object[name] = to_json(member.second, duplicate);
  }
  return object;
}

std::string render_yaml(const Json& value) {
  if (value.is_string()) return rendered(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  if (value.is_array()) {
    for (const Json& element : value) text += (text.empty() ? "" : ", ") + render_yaml(element);
    return "[" + text + "]";
  }
  for (const auto& [name, member] : value.items())
    text += (text.empty() ? "" : ", ") + rendered(name) + ": " + render_yaml(member);
  return "{" + text + "}";
}

}  // namespace slipway::merge
