// SPDX-License-Identifier: Apache-2.0
#include "core/loader/schema/check.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Kind = base::YamlNode::Kind;
using Type = SchemaKey::Type;

std::string advice_for(const base::YamlNode& node, const SchemaKey& schema, const std::string& key) {
  if (node.kind == Kind::null) return "give the key a value, or remove it";
  if (node.kind != Kind::scalar || schema.type != Type::object) return {};
  return "write '" + key.substr(key.rfind('.') + 1) +
         ": {}', with its keys between the braces or on lines of their own";
}

void mismatch(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  check.problems.add(node.position, key, shown_key(key) + ": expected " + expected(schema) + ", found " + found(node),
                     advice_for(node, schema, key));
}

/// Describes the mismatch with the manifest's `expects`; shows the pattern itself only when there is none.
std::string mismatch_text(base::YamlNode node, const SchemaKey& schema, const std::string& why) {
  node.quoted = false;  // quotes do not matter for text
  if (!schema.expects.empty()) return "expected " + schema.expects + ", found " + found(node);
  return found(node) + " " + (schema.example.empty() ? why : "does not have the form that is expected here");
}

Json check_string(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  const std::string why = schema.pattern.empty() ? "" : pattern_mismatch(node.text, schema.pattern);
  if (!why.empty())
    check.problems.add(node.position, key, shown_key(key) + ": " + mismatch_text(node, schema, why),
                       schema.example.empty() ? "" : "write it like this: " + schema.example);
  return node.text;
}

/// Checks that a number, or a number of elements, is within the limits of the schema.
void check_bounds(std::int64_t number, const base::YamlNode& node, const SchemaKey& schema, const std::string& key,
                  SchemaCheck& check) {
  if (number >= schema.least.value_or(number) && number <= schema.most.value_or(number)) return;
  check.problems.add(node.position, key,
                     shown_key(key) + ": expected " + bounds(schema) + ", found " + std::to_string(number));
}

Json check_integer(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  const auto number = node.quoted ? std::nullopt : parse_integer(node.text);
  if (number) check_bounds(*number, node, schema, key, check);
  if (number) return *number;
  if (node.quoted && parse_integer(node.text))
    check.problems.add(node.position, key, shown_key(key) + ": expected an integer, found " + found(node),
                       "remove the quotes");
  else if (has_leading_zero(node.text))
    check.problems.add(
        node.position, key,
        shown_key(key) + ": '" + node.text + "' begins with a zero, which some programs read as an octal number",
        "write it as a decimal number, without the zero");
  else
    mismatch(node, schema, key, check);
  return nullptr;
}

Json check_boolean(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  if (!node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  if (const auto meant = other_boolean(node.text))
    check.problems.add(
        node.position, key,
        shown_key(key) + ": expected true or false, found " + found(node) + ", which YAML 1.2 reads as a string",
        std::string("write ") + (*meant ? "true" : "false") + ", without quotes");
  else
    mismatch(node, schema, key, check);
  return nullptr;
}

Json check_enumeration(const base::YamlNode& node, const SchemaKey& schema, const std::string& key,
                       SchemaCheck& check) {
  for (const std::string& value : schema.values)
    if (node.text == value) return value;
  check.problems.add(node.position, key,
                     shown_key(key) + ": expected " + expected(schema) + ", found " + found(node) +
                         did_you_mean(node.text, schema.values));
  return nullptr;
}

Json check_path(const base::YamlNode& node, const std::string& key, SchemaCheck& check) {
  if (node.text.empty())
    check.problems.add(node.position, key, shown_key(key) + ": expected a path, found an empty string");
  if (node.text.starts_with("~"))
    check.problems.add(node.position, key, shown_key(key) + ": '~' is not expanded in a spec",
                       "write the whole path; a relative path is relative to the spec file");
  return node.text;
}

Json check_scalar(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  switch (schema.type) {
    case Type::integer:
      return check_integer(node, schema, key, check);
    case Type::boolean:
      return check_boolean(node, schema, key, check);
    case Type::enumeration:
      return check_enumeration(node, schema, key, check);
    case Type::path:
      return check_path(node, key, check);
    default:
      return check_string(node, schema, key, check);
  }
}

Json check_list(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  Json list = Json::array();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string item_key = below(key, std::to_string(i));
    check.positions[item_key] = node.items[i].position;
    list.push_back(schema.items.empty() ? untyped_value(node.items[i])
                                        : check_value(node.items[i], schema.items.front(), item_key, check));
  }
  check_bounds(static_cast<std::int64_t>(list.size()), node, schema, key, check);
  return list;
}

Json check_map(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  Json map = Json::object();
  for (const base::YamlEntry& entry : node.entries) {
    const std::string entry_key = below(key, entry.key);
    check.positions[entry_key] = entry.position;
    map[entry.key] = schema.items.empty() ? untyped_value(entry.value)
                                          : check_value(entry.value, schema.items.front(), entry_key, check);
  }
  check_bounds(static_cast<std::int64_t>(map.size()), node, schema, key, check);
  return map;
}

/// True when the key is present under a mistyped name, which is reported once.
bool is_mistyped(const base::YamlNode& node, const std::string& name) {
  return std::any_of(node.entries.begin(), node.entries.end(),
                     [&](const base::YamlEntry& entry) { return nearest_word(entry.key, {name}) == name; });
}

void check_required(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  for (const auto& [name, child] : schema.keys) {
    if (!child.required || node.find(name) != nullptr || is_mistyped(node, name)) continue;
    if (std::ranges::any_of(child.formerly, [&](const auto& former) { return node.find(former) != nullptr; })) continue;
    const std::string example = child.example.empty() ? "" : ", for example " + name + ": " + child.example;
    check.problems.add(node.position, key, "the key '" + name + "' is missing in " + shown_key(key),
                       "add it: " + expected(child) + example);
  }
}

/// Finds the key of that name, or of that former name.
std::map<std::string, SchemaKey>::const_iterator find_key(const SchemaKey& schema, const std::string& name) {
  const auto child = schema.keys.find(name);
  if (child != schema.keys.end()) return child;
  return std::ranges::find_if(schema.keys,
                              [&](const auto& key) { return std::ranges::count(key.second.formerly, name) != 0; });
}

Json check_object(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  std::vector<std::string> known;
  for (const auto& [name, child] : schema.keys) known.push_back(name);
  Json object = Json::object();
  std::map<std::string, std::string> named_by;  // the name that the spec uses for a key
  for (const base::YamlEntry& entry : node.entries) {
    const auto child = find_key(schema, entry.key);
    if (child == schema.keys.end()) {
      unknown_key(entry, key, known, check);
      continue;
    }
    const auto& [name, kind] = *child;
    const std::string place = base::to_text(check.problems.file(), entry.position) + ": ";
    const auto [other, is_first] = named_by.emplace(name, entry.key);
    if (name != entry.key && node.find(name) != nullptr)
      check.problems.add(entry.position, below(key, entry.key),
                         "'" + entry.key + "' is the former name of '" + name + "', which is set too",
                         "keep one of the two");
    else if (!is_first)
      check.problems.add(entry.position, below(key, entry.key),
                         "'" + other->second + "' and '" + entry.key + "' are both former names of '" + name + "'",
                         "keep one of the two, and call it '" + name + "'");
    else if (name != entry.key)
      check.remarks.push_back(place + "the key '" + entry.key + "' in " + shown_key(key) + " is now called '" + name +
                              "'");
    if (!kind.deprecated.empty())
      check.remarks.push_back(place + "the key '" + name + "' in " + shown_key(key) +
                              " is deprecated: " + kind.deprecated);
    const std::string entry_key = below(key, name);
    check.positions[entry_key] = entry.position;
    object[name] = check_value(entry.value, kind, entry_key, check);
  }
  check_required(node, schema, key, check);
  return object;
}

Json untyped_scalar(const base::YamlNode& node) {
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (const auto number = parse_integer(node.text)) return *number;
  if (const auto number = parse_decimal(node.text)) return *number;
  return node.text;
}

/// Adds the positions in a value without a schema: its plugin reports errors in it.
void add_positions(const base::YamlNode& node, const std::string& key, SchemaCheck& check) {
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string item_key = below(key, std::to_string(i));
    check.positions[item_key] = node.items[i].position;
    add_positions(node.items[i], item_key, check);
  }
  for (const base::YamlEntry& entry : node.entries) {
    const std::string entry_key = below(key, entry.key);
    check.positions[entry_key] = entry.position;
    add_positions(entry.value, entry_key, check);
  }
}

}  // namespace

std::string shown_key(const std::string& key) {
  std::string_view shown = key;
  if (shown.starts_with("spec.")) shown.remove_prefix(5);
  if (shown.starts_with("components.")) shown.remove_prefix(11);
  return shown.empty() ? "this file" : std::string(shown);
}

std::string below(const std::string& key, const std::string& entry) { return key.empty() ? entry : key + "." + entry; }

void unknown_key(const base::YamlEntry& entry, const std::string& key, const std::vector<std::string>& known,
                 SchemaCheck& check) {
  const std::size_t colon = entry.key.find(':');
  std::string next;
  if (colon != std::string::npos && entry.value.kind == Kind::null)
    next = "write a space after the colon: '" + entry.key.substr(0, colon) + ": …'";
  else if (nearest_word(entry.key, known).empty())
    next = known.empty() ? "no key is allowed there" : "known there: " + listed(known, "and");
  check.problems.add(entry.position, below(key, entry.key),
                     "unknown key '" + entry.key + "' in " + shown_key(key) + did_you_mean(entry.key, known), next);
}

Json check_value(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check) {
  if (schema.type == Type::any) {
    add_positions(node, key, check);
    return untyped_value(node);
  }
  if (schema.type == Type::artifact_source) return check_artifact_source(node, schema, key, check);
  if (schema.type == Type::secret) return check_secret(node, schema, key, check);
  const bool object = schema.type == Type::object;
  if (node.kind == Kind::null && object) return check_object(node, schema, key, check);  // "name:" means "name: {}"
  if (node.kind == Kind::list && schema.type == Type::list) return check_list(node, schema, key, check);
  if (node.kind == Kind::map && schema.type == Type::map) return check_map(node, schema, key, check);
  if (node.kind == Kind::map && object) return check_object(node, schema, key, check);
  const bool wants_scalar = schema.type != Type::list && schema.type != Type::map && !object;
  if (node.kind == Kind::scalar && wants_scalar) return check_scalar(node, schema, key, check);
  mismatch(node, schema, key, check);
  return nullptr;
}

Json untyped_value(const base::YamlNode& node) {
  if (node.kind == Kind::scalar) return untyped_scalar(node);
  if (node.kind == Kind::list) {
    Json list = Json::array();
    for (const base::YamlNode& item : node.items) list.push_back(untyped_value(item));
    return list;
  }
  if (node.kind == Kind::map) {
    Json map = Json::object();
    for (const base::YamlEntry& entry : node.entries) map[entry.key] = untyped_value(entry.value);
    return map;
  }
  return nullptr;
}

}  // namespace slipway::core
