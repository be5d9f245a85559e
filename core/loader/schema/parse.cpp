// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <set>

#include "base/yaml/tree.hpp"
#include "core/loader/schema/check.hpp"
#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Type = SchemaKey::Type;

SchemaKey of_type(Type type) {
  SchemaKey schema;
  schema.type = type;
  return schema;
}

/// The schema of a key's schema. `default` and `example` are checked against the type that it has.
const SchemaKey& schema_of_schemas() {
  static const SchemaKey schema = [] {
    SchemaKey object = of_type(Type::object);
    object.keys = {{"type", of_type(Type::enumeration)},  {"required", of_type(Type::boolean)},
                   {"default", of_type(Type::any)},       {"help", of_type(Type::string)},
                   {"pattern", of_type(Type::string)},    {"expects", of_type(Type::string)},
                   {"example", of_type(Type::any)},       {"values", of_type(Type::list)},
                   {"items", of_type(Type::any)},         {"keys", of_type(Type::map)},
                   {"tag_prefix", of_type(Type::string)}, {"least", of_type(Type::integer)},
                   {"most", of_type(Type::integer)},      {"formerly", of_type(Type::list)},
                   {"deprecated", of_type(Type::string)}};
    object.keys["type"].values = type_names();
    object.keys["type"].required = true;
    object.keys["values"].items = {of_type(Type::string)};
    object.keys["formerly"].items = {of_type(Type::string)};
    return object;
  }();
  return schema;
}

Type type_from_name(const std::string& name) {
  const auto& names = type_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? Type::any : static_cast<Type>(found - names.begin());
}

/// One schema being read: the node, its dotted key, and the list for problems.
struct Reading {
  const base::YamlNode& node;
  const std::string& key;
  SchemaCheck& check;

  void wrong(const char* name, const std::string& why) const {
    const base::YamlEntry* entry = node.find(name);
    check.problems.add(entry != nullptr ? entry->position : node.position, key, shown_key(key) + ": " + why);
  }
};

void check_use(const Reading& reading, const char* name, bool useful) {
  if (reading.node.find(name) != nullptr && !useful)
    reading.wrong(name, std::string("'") + name + "' has no meaning for this type");
}

void check_uses(const Reading& reading, Type type) {
  check_use(reading, "pattern", type == Type::string);
  check_use(reading, "expects", type == Type::string);
  check_use(reading, "values", type == Type::enumeration);
  check_use(reading, "items", type == Type::list || type == Type::map);
  check_use(reading, "keys", type == Type::object);
  check_use(reading, "tag_prefix", type == Type::artifact_source);
  check_use(reading, "default", type != Type::secret);
  for (const char* bound : {"least", "most"})
    check_use(reading, bound, type == Type::integer || type == Type::list || type == Type::map);
}

void check_values(const Reading& reading, const SchemaKey& schema) {
  if (schema.type == Type::enumeration && schema.values.empty()) reading.wrong("values", "an enum needs 'values'");
  if (std::set<std::string>(schema.values.begin(), schema.values.end()).size() != schema.values.size())
    reading.wrong("values", "a value is given twice");
}

void check_bounds_of(const Reading& reading, const SchemaKey& schema) {
  if (schema.least && schema.most && *schema.least > *schema.most)
    reading.wrong("least", "'least' is more than 'most'");
  if (schema.type != Type::integer && (schema.least.value_or(0) < 0 || schema.most.value_or(0) < 0))
    reading.wrong(schema.least.value_or(0) < 0 ? "least" : "most", "a number of elements cannot be negative");
}

void read_default(const Reading& reading, SchemaKey& schema) {
  const base::YamlEntry* entry = reading.node.find("default");
  if (entry == nullptr) return;
  if (schema.required) reading.wrong("default", "a required key can have no default");
  schema.default_value = check_value(entry->value, schema, below(reading.key, "default"), reading.check);
  if (schema.type == Type::path && !entry->value.text.starts_with("/"))
    reading.wrong("default", "the default of a path must be absolute");
}

void read_example(const Reading& reading, SchemaKey& schema) {
  if (const base::YamlEntry* entry = reading.node.find("example")) {
    const Json value = check_value(entry->value, schema, below(reading.key, "example"), reading.check);
    schema.example = entry->value.kind == base::YamlNode::Kind::scalar ? entry->value.text : canonical(value);
  } else if (schema.required && !schema.pattern.empty()) {
    reading.wrong("pattern", "a required string with a pattern needs an 'example'");
  }
}

void read_pattern(const Reading& reading, SchemaKey& schema) {
  if (schema.type == Type::string && schema.pattern.empty() && !schema.expects.empty())
    reading.wrong("expects", "'expects' needs a 'pattern'");
  const std::string why = pattern_problem(schema.pattern);
  if (why.empty()) return;
  reading.wrong("pattern", "the pattern " + why);
  schema.pattern.clear();
}

bool is_key_name(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-'); });
}

/// Checks that every "{name}" of a tag prefix is a key beside it.
void check_tag_prefix(const base::YamlEntry& entry, const std::map<std::string, SchemaKey>& siblings,
                      const std::string& key, const std::string& prefix, SchemaCheck& check) {
  for (std::size_t open = prefix.find('{'); open != std::string::npos; open = prefix.find('{', open + 1)) {
    const std::size_t close = prefix.find('}', open);
    if (close == std::string::npos) {
      check.problems.add(entry.position, key, shown_key(key) + ": tag_prefix has a '{' without a '}'");
      return;
    }
    const std::string name = prefix.substr(open + 1, close - open - 1);
    const auto sibling = siblings.find(name);
    if (sibling == siblings.end() || sibling->second.type != Type::string)
      check.problems.add(
          entry.position, key,
          shown_key(key) + ": tag_prefix uses '{" + name + "}', but beside it is no key '" + name + "' of type string");
  }
}

}  // namespace

SchemaKey parse_schema(const base::YamlNode& node, const std::string& key, SchemaCheck& check) {
  const Json plain = check_value(node, schema_of_schemas(), key, check);
  SchemaKey schema;
  if (!plain.is_object()) return schema;
  const auto text = [&](const char* name) {
    return plain.contains(name) && plain[name].is_string() ? plain[name].get<std::string>() : "";
  };
  schema.type = type_from_name(text("type"));
  schema.required = plain.contains("required") && plain["required"] == true;
  schema.help = text("help");
  schema.pattern = text("pattern");
  schema.expects = text("expects");
  schema.tag_prefix = text("tag_prefix");
  schema.deprecated = text("deprecated");
  for (const auto& [name, list] : {std::pair("values", &schema.values), std::pair("formerly", &schema.formerly)})
    if (plain.contains(name) && plain[name].is_array())
      for (const Json& value : plain[name])
        if (value.is_string()) list->push_back(value);
  for (const auto& [name, bound] : {std::pair("least", &schema.least), std::pair("most", &schema.most)})
    if (plain.contains(name) && plain[name].is_number_integer()) *bound = plain[name].get<std::int64_t>();

  const Reading reading{node, key, check};
  if (const base::YamlEntry* items = node.find("items"))
    schema.items = {parse_schema(items->value, below(key, "items"), check)};
  if (const base::YamlEntry* keys = node.find("keys"))
    schema.keys = parse_schema_keys(keys->value, below(key, "keys"), check);
  else if (schema.type == Type::object)
    reading.wrong("type", "an object needs 'keys'; use a 'map' for free keys");
  check_uses(reading, schema.type);
  check_values(reading, schema);
  read_pattern(reading, schema);
  read_default(reading, schema);
  check_bounds_of(reading, schema);
  read_example(reading, schema);
  return schema;
}

std::map<std::string, SchemaKey> parse_schema_keys(const base::YamlNode& node, const std::string& key,
                                                   SchemaCheck& check) {
  std::map<std::string, SchemaKey> keys;
  for (const base::YamlEntry& entry : node.entries) {
    if (!is_key_name(entry.key))
      check.problems.add(
          entry.position, key,
          shown_key(key) + ": '" + entry.key + "' is not a name for a key: letters, digits, _ and -, a letter first");
    keys[entry.key] = parse_schema(entry.value, below(key, entry.key), check);
  }
  for (const auto& key_of : keys)
    for (const std::string& former : key_of.second.formerly)
      if (keys.contains(former) || std::ranges::any_of(keys, [&](const auto& other) {
            return other.first != key_of.first && std::ranges::count(other.second.formerly, former) != 0;
          }))
        check.problems.add(
            node.position, key,
            shown_key(key) + ": '" + former + "', a former name of '" + key_of.first + "', is another key's");
  for (const base::YamlEntry& entry : node.entries)
    check_tag_prefix(entry, keys, below(key, entry.key), keys[entry.key].tag_prefix, check);
  return keys;
}

Result<SchemaKey> own_schema(std::string_view text, const std::string& name) {
  SLIPWAY_TRY(documents, base::read_yaml(text, name));
  SchemaCheck check(name);
  SchemaKey schema{.type = SchemaKey::Type::object};
  schema.keys = parse_schema_keys(documents.front(), "", check);
  if (!check.problems.none()) return check.problems.to_error();
  return schema;
}

}  // namespace slipway::core
