// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/json_field.hpp"

#include <set>
#include <vector>

namespace slipway::artifact {
namespace {

constexpr int kMaxDepth = 64;

/// Watches the parser: depth, and duplicate keys in one object (two readers could use different values).
struct Watch {
  std::string problem;
  std::vector<std::set<std::string>> keys;

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > kMaxDepth) problem = "is nested too deeply";
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end && !keys.empty()) keys.pop_back();
    if (event == Event::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second)
      problem = "has the key '" + value.get<std::string>() + "' twice";
    return problem.empty();
  }
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& what) {
  Watch watch;
  Json value = Json::parse(
      text, [&watch](int depth, Json::parse_event_t event, Json& parsed) { return watch(depth, event, parsed); },
      /*allow_exceptions=*/false);
  if (!watch.problem.empty()) return Error{.code = ErrorCode::invalid, .what = what + " " + watch.problem};
  if (value.is_discarded()) return Error{.code = ErrorCode::invalid, .what = what + " is not valid JSON"};
  return value;
}

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& object_at(const Json& object, const char* key) {
  static const Json empty = Json::object();
  if (!object.is_object()) return empty;
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

const Json& array_at(const Json& object, const char* key) {
  static const Json empty = Json::array();
  if (!object.is_object()) return empty;
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

bool flag_at(const Json& object, const char* key) {
  if (!object.is_object()) return false;
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace slipway::artifact
