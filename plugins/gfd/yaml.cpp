// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <slipway/yaml/load.hpp>

#include "gfd/config.hpp"

namespace slipway::gfd {
namespace {

Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "true" || text == "false") return text == "true";
  if (text.empty() || text == "null" || text == "~") return nullptr;
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() ? Json(number) : Json(text);
}

Json value_of(const YAML::Node& node) {
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& item : node) list.push_back(value_of(item));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json map = Json::object();
  for (const auto& entry : node) map[entry.first.Scalar()] = value_of(entry.second);
  return map;
}

}  // namespace

Result<Json> json_from_yaml(const std::string& text, const std::string& file) {
  try {
    return value_of(yaml::load(text));
  } catch (const YAML::Exception& problem) {
    return Error{.code = ErrorCode::invalid,
                 .what = "this " + yaml::problem_text(problem),
                 .where = yaml::place(file, problem.mark),
                 .next = "look at the line and those before it"};
  }
}

}  // namespace slipway::gfd
