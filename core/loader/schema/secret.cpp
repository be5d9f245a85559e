// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Kind = base::YamlNode::Kind;

constexpr const char* kNext =
    "put the secret into a file that only root can read, and write {file: PATH}, or {env: NAME}";

bool is_variable_name(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); });
}

bool is_path(const std::string& text) { return !text.empty() && text.front() != '~'; }

void add_secrets(const Json& value, const SchemaKey& schema, const std::string& key, std::vector<NamedSecret>& found) {
  if (schema.type == SchemaKey::Type::secret && value.is_object()) found.push_back({key, value.value("env", "")});
  if (schema.type == SchemaKey::Type::object && value.is_object())
    for (const auto& [name, child] : schema.keys)
      if (value.contains(name)) add_secrets(value[name], child, below(key, name), found);
  const bool many = schema.type == SchemaKey::Type::list || schema.type == SchemaKey::Type::map;
  if (!many || schema.items.empty() || !value.is_structured()) return;
  for (const auto& [name, item] : value.items()) add_secrets(item, schema.items.front(), below(key, name), found);
}

}  // namespace

std::vector<NamedSecret> secrets_of(const Json& section, const SchemaKey& schema) {
  std::vector<NamedSecret> found;
  add_secrets(section, schema, {}, found);
  return found;
}

Json check_secret(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  const auto wrong = [&](const base::YamlNode& at, const std::string& why) {
    check.problems.add(at.position, key, shown_key(key) + ": " + why, kNext);
    return Json();
  };
  if (node.kind == Kind::scalar) return wrong(node, "a spec cannot contain a secret, only a reference to one");
  if (node.kind != Kind::map) return wrong(node, "expected " + expected(schema) + ", found " + found_kind(node));
  if (node.entries.size() != 1) return wrong(node, "expected exactly one of 'file' and 'env'");
  const base::YamlEntry& entry = node.entries.front();
  const bool file = entry.key == "file";
  if (!file && entry.key != "env") return wrong(node, "expected one of the keys 'file' and 'env', found another");
  if (entry.value.kind != Kind::scalar)
    return wrong(entry.value, "expected " + std::string(file ? "a path" : "a variable's name") + ", found " +
                                  found_kind(entry.value));
  if (file && !is_path(entry.value.text))
    return wrong(entry.value, "expected the path of a file ('~' is not expanded)");
  if (!file && !is_variable_name(entry.value.text))
    return wrong(entry.value, "expected the name of an environment variable");
  check.positions[below(key, entry.key)] = entry.position;
  return Json{{entry.key, entry.value.text}};
}

}  // namespace slipway::core
