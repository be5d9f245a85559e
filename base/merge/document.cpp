// SPDX-License-Identifier: Apache-2.0
#include "base/merge/document.hpp"

#include <algorithm>

namespace slipway::merge {

Result<std::unique_ptr<Document>> parse(const std::string& format, const std::string& bytes, const std::string& path) {
  if (format == "json") return parse_json(bytes, path);
  if (format == "toml") return parse_toml(bytes, path);
  if (format == "yaml") return parse_yaml(bytes, path);
  return Error{ErrorCode::unsupported,
               "slipway cannot merge into files of the format '" + format + "', only into json, toml and yaml",
               path,
               "this is a defect of the component that planned the change; report it to the component's authors",
               {}};
}

std::string spliced(const std::string& bytes, std::vector<Splice> splices) {
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = 0;
  for (const Splice& splice : splices) {
    result.append(bytes, at, splice.begin - at);
    result += splice.text;
    at = splice.end;
  }
  return result.append(bytes, at, std::string::npos);
}

std::string to_text(const Key& key) {
  std::string text;
  for (const std::string& name : key) {
    const bool plain = !name.empty() && name.find_first_of(". \"'[]") == std::string::npos;
    text += (text.empty() ? "" : ".") + (plain ? name : "\"" + name + "\"");
  }
  return text;
}

Error broken(const std::string& path, std::size_t line, std::size_t column, const std::string& format,
             const std::string& why) {
  const std::string place = path + ":" + std::to_string(line) + ":" + std::to_string(column);
  return Error{ErrorCode::invalid,
               place + ": this is not a valid " + format + ": " + why,
               place,
               "correct the file, then run the same command again; nothing was written to it",
               {}};
}

std::pair<std::size_t, std::size_t> position_of(const std::string& bytes, std::size_t offset) {
  offset = std::min(offset, bytes.size());
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto line = static_cast<std::size_t>(std::count(bytes.begin(), end, '\n')) + 1;
  const std::size_t newline = offset == 0 ? std::string::npos : bytes.rfind('\n', offset - 1);
  return {line, newline == std::string::npos ? offset + 1 : offset - newline};
}

Reach reach(const Json& document, const Key& key) {
  Reach found{0, &document};
  for (const std::string& name : key) {
    if (!found.value->is_object()) break;
    const auto member = found.value->find(name);
    if (member == found.value->end()) break;
    found = {found.depth + 1, &*member};
  }
  return found;
}

Json nested(const Key& names, std::size_t from, const Json& value) {
  Json result = value;
  for (std::size_t i = names.size(); i > from; --i) result = Json{{names[i - 1], result}};
  return result;
}

}  // namespace slipway::merge
