// SPDX-License-Identifier: Apache-2.0
#include "base/yaml/tree.hpp"

namespace slipway::base {

std::string to_text(const std::string& file, Position position) {
  if (position.line == 0) return file;
  return file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

const YamlEntry* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

YamlNode yaml_from_json(const Json& value) {
  YamlNode node;
  if (value.is_object()) {
    node.kind = YamlNode::Kind::map;
    for (const auto& [key, item] : value.items()) node.entries.push_back({key, {}, yaml_from_json(item)});
  } else if (value.is_array()) {
    node.kind = YamlNode::Kind::list;
    for (const Json& item : value) node.items.push_back(yaml_from_json(item));
  } else if (!value.is_null()) {
    node.kind = YamlNode::Kind::scalar;
    node.quoted = value.is_string();
    node.text = value.is_string() ? value.get<std::string>() : canonical(value);
  }
  return node;
}

}  // namespace slipway::base
