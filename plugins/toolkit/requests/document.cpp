// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/document.hpp"

#include "base/merge/json_fault.hpp"

namespace slipway::shim {

Result<Json> parse_document(std::string_view text, const std::string& where) {
  const Members document(where);
  Json value = parse_foreign(text);
  if (value.is_discarded()) {
    const merge::JsonFault fault = merge::find_json_fault(text).value_or(merge::JsonFault{});
    return document.invalid("it is not JSON, at byte " + std::to_string(fault.offset_bytes + 1) + ": " + fault.why);
  }
  if (!value.is_object()) return document.invalid("it is not a JSON object");
  return value;
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
