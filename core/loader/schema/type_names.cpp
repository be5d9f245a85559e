// SPDX-License-Identifier: Apache-2.0
#include "core/loader/schema/type_names.hpp"

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

constexpr std::size_t kShownBytes = 60;

/// One line of at most kShownBytes, cut between characters.
std::string shortened(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > kShownBytes) {
    std::size_t end = kShownBytes;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
    line.resize(end);
  }
  return line == text ? line : line + "…";
}

}  // namespace

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names{"string", "integer",         "boolean", "enum",   "list", "map",
                                              "object", "artifact-source", "path",    "secret", "any"};
  return names;
}

std::string_view type_name(SchemaKey::Type type) { return type_names().at(static_cast<std::size_t>(type)); }

std::string expected(const SchemaKey& schema) {
  switch (schema.type) {
    case SchemaKey::Type::string:
      return "a string";
    case SchemaKey::Type::integer:
      return "an integer";
    case SchemaKey::Type::boolean:
      return "true or false";
    case SchemaKey::Type::enumeration:
      return (schema.values.size() > 1 ? "one of " : "the word ") + listed(schema.values, "or");
    case SchemaKey::Type::list:
      return "a list";
    case SchemaKey::Type::map:
      return "a map (key: value)";
    case SchemaKey::Type::object:
      return "a map with its keys (key: value)";
    case SchemaKey::Type::artifact_source:
      return "an artifact source (oci://HOST/NAME, a path, or a map with repository)";
    case SchemaKey::Type::path:
      return "a path";
    case SchemaKey::Type::secret:
      return "a reference to a secret ({file: PATH} or {env: NAME})";
    case SchemaKey::Type::any:
      return "any value";
  }
  return "any value";
}

std::string found_kind(const base::YamlNode& node) {
  switch (node.kind) {
    case base::YamlNode::Kind::null:
      return "nothing";
    case base::YamlNode::Kind::list:
      return "a list";
    case base::YamlNode::Kind::map:
      return "a map";
    case base::YamlNode::Kind::scalar:
      return "a string";
  }
  return "nothing";
}

std::string found(const base::YamlNode& node) {
  if (node.kind != base::YamlNode::Kind::scalar) return found_kind(node);
  if (node.text.empty()) return "an empty text";
  return node.quoted ? "the quoted text \"" + shortened(node.text) + "\"" : "'" + shortened(node.text) + "'";
}

std::string bounds(const SchemaKey& schema) {
  if (!schema.least && !schema.most) return {};
  const std::int64_t last = schema.most ? *schema.most : *schema.least;
  const std::string what = schema.type == SchemaKey::Type::integer ? "" : last == 1 ? " element" : " elements";
  if (schema.least && schema.most) return std::to_string(*schema.least) + " to " + std::to_string(last) + what;
  return (schema.least ? "at least " : "at most ") + std::to_string(last) + what;
}

}  // namespace slipway::core
