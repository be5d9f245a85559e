// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <yaml-cpp/yaml.h>

#include "gfd/config.hpp"

namespace slipway::gfd {
namespace {

constexpr int kDeepest = 64;  // a file that goes deeper is no configuration

Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "true" || text == "false") return text == "true";
  if (text.empty() || text == "null" || text == "~") return nullptr;
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() ? Json(number) : Json(text);
}

Json value_of(const YAML::Node& node, int depth) {
  if (depth > kDeepest) throw YAML::Exception(node.Mark(), "goes too deep");
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& item : node) list.push_back(value_of(item, depth + 1));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json map = Json::object();
  for (const auto& entry : node) map[entry.first.Scalar()] = value_of(entry.second, depth + 1);
  return map;
}

}  // namespace

Result<Json> json_from_yaml(const std::string& text, const std::string& file) {
  try {
    return value_of(YAML::Load(text), 0);
  } catch (const YAML::Exception& problem) {
    const std::string where = problem.mark.is_null() ? file
                                                     : file + ":" + std::to_string(problem.mark.line + 1) + ":" +
                                                           std::to_string(problem.mark.column + 1);
    return Error{.code = ErrorCode::invalid, .what = "this is no YAML: " + problem.msg, .where = where};
  }
}

}  // namespace slipway::gfd
