// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include <slipway/text.hpp>

#include "plugin_ops.hpp"
#include "src/text/read.hpp"

namespace slipway::detail {
namespace {

constexpr std::size_t kMostNamed = 6;  // of the possible keys

/// Returns the type that was found: "type must be string, but is number", "cannot use at() with number".
std::string found_type(const std::string& problem) {
  for (const std::string_view before : {"but is ", " with "})
    if (const std::size_t at = problem.rfind(before); at != std::string::npos)
      return problem.substr(at + before.size());
  return {};
}

void add_keys(const Json& value, const std::string& path, const std::string& type, std::vector<std::string>& keys) {
  if (type == value.type_name()) keys.push_back(path);
  if (!value.is_structured()) return;
  for (const auto& [name, inner] : value.items()) add_keys(inner, path + "." + name, type, keys);
}

/// Returns the library's message without its own number: "[json.exception.type_error.302] type must be …".
std::string without_number(const std::string& problem) {
  const std::size_t end = problem.find("] ");
  return problem.starts_with('[') && end != std::string::npos ? problem.substr(end + 2) : problem;
}

}  // namespace

Error json_misuse(const Json::exception& problem, const Json& request) {
  const std::string message = without_number(problem.what());
  Error error{.code = ErrorCode::plugin_defect, .what = "reads a JSON value as another type than it has: " + message};
  const std::string type = found_type(message);
  const std::string spec = "spec.components." + text_at(request, "component");
  std::vector<std::string> keys;
  for (const auto& [member_name, path] :
       {std::pair("spec", spec), std::pair("facts", std::string("facts")), std::pair("inputs", std::string("inputs")),
        std::pair("action", std::string("action"))}) {
    const Json* value = member(request, member_name);
    if (value != nullptr && path == "facts") value = member(*value, "values");
    if (value == nullptr || !value->is_structured()) continue;
    for (const auto& [name, inner] : value->items()) add_keys(inner, path + "." + name, type, keys);
  }
  if (keys.empty()) return error;
  if (keys.size() == 1) error.where = keys.front();
  error.details.emplace_back(type, first_few(keys, kMostNamed));
  return error;
}

}  // namespace slipway::detail
