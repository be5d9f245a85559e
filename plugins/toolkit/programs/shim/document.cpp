// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/shim/document.hpp"

namespace slipway::shim {
namespace {

constexpr int kMaxDepth = 128;  // an OCI configuration has about ten levels

/// Brackets outside of texts; a document without end is for the parser to refuse.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool inside_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside_text && c == '\\') ++i;
    if (c == '"' && (!inside_text || text[i] == '"')) inside_text = !inside_text;
    if (inside_text) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

}  // namespace

Result<Json> parse_document(std::string_view text, const std::string& where) {
  const Members document(where);
  if (too_deep(text)) return document.invalid("it is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  try {
    Json value = Json::parse(text);
    if (!value.is_object()) return document.invalid("it is no JSON object");
    return value;
  } catch (const Json::parse_error& problem) {
    return document.invalid("it is no JSON, at byte " + std::to_string(problem.byte));
  }
}

Error Members::invalid(const std::string& what) const {
  return Error{
      ErrorCode::invalid, where_ + ": " + what, where_, "the container engine writes this file: report it there", {}};
}

Result<const Json*> Members::find(const Json& parent, const char* name, Json::value_t type) const {
  const auto found = parent.find(name);
  if (found == parent.end() || found->is_null()) return static_cast<const Json*>(nullptr);
  if (found->type() != type)
    return invalid(std::string(name) + " is no " + (type == Json::value_t::object ? "object" : "list"));
  return static_cast<const Json*>(&*found);
}

Result<Json*> Members::make(Json& parent, const char* name, Json::value_t type) const {
  SLIPWAY_TRY(found, find(parent, name, type));
  if (found == nullptr) parent[name] = Json(type);
  return &parent[name];
}

Result<const Json*> Members::object_in(const Json& parent, const char* name) const {
  return find(parent, name, Json::value_t::object);
}
Result<const Json*> Members::list_in(const Json& parent, const char* name) const {
  return find(parent, name, Json::value_t::array);
}
Result<Json*> Members::make_object(Json& parent, const char* name) const {
  return make(parent, name, Json::value_t::object);
}
Result<Json*> Members::make_list(Json& parent, const char* name) const {
  return make(parent, name, Json::value_t::array);
}

std::string text_in(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace slipway::shim
