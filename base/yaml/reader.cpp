// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/yaml/tree_builder.hpp"

namespace slipway::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error to_error(const YamlComplaint& complaint, const std::string& origin) {
  return Error{ErrorCode::invalid, complaint.what, to_text(origin, complaint.position), complaint.next, {}};
}

}  // namespace

Result<std::vector<YamlNode>> read_yaml(std::string_view text, const std::string& origin) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.size() > kYamlMaxBytes)
    return Error{ErrorCode::invalid,
                 origin + " is too large: more than " + std::to_string(kYamlMaxBytes / 1024) + " KiB",
                 origin,
                 "check that this is the right file",
                 {}};
  const TextLines lines(text);
  if (const auto bad = find_bad_byte(text))
    return to_error({lines.position_of(bad->offset), origin + " is not a YAML text: " + bad->why,
                     "save it as plain UTF-8 text, and check that this is the right file"},
                    origin);
  TreeBuilder builder(lines);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YamlStop& stop) {
    return to_error(stop.complaint, origin);
  } catch (const YAML::Exception& problem) {
    return to_error(explain_yaml_error(lines, problem.msg, problem.mark.line, problem.mark.column), origin);
  }
  return builder.take();
}

}  // namespace slipway::base
