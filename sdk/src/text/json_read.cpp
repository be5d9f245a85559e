// SPDX-License-Identifier: Apache-2.0
#include "read.hpp"

namespace slipway {

bool nests_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > kMaxJsonDepth) return true;
    } else if (!quoted && (c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Json parse_foreign(std::string_view text) {
  return nests_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

}  // namespace slipway

namespace slipway::detail {

const Json* member(const Json& value, std::string_view name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() ? nullptr : &*found;
}

const Json* find_by_dotted_name(const Json& value, std::string_view name) {
  if (const Json* whole = member(value, name)) return whole;
  for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    const Json* inner = member(value, name.substr(0, dot));
    if (inner == nullptr) continue;
    if (const Json* found = find_by_dotted_name(*inner, name.substr(dot + 1))) return found;
  }
  return nullptr;
}

std::string text_or_empty(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool true_or_false(const Json* value) { return value != nullptr && value->is_boolean() && value->get<bool>(); }

std::vector<std::string> texts_or_none(const Json* value) {
  std::vector<std::string> texts;
  if (value == nullptr || !value->is_array()) return texts;
  for (const Json& item : *value)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

Json value_or_null(const Json* value) { return value == nullptr ? Json() : *value; }

std::string_view type_in_words(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::object:
      return "an object";
    default:
      return value.is_number() ? "a number" : "nothing";
  }
}

}  // namespace slipway::detail
