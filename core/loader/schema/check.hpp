// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/check.hpp - reads schemas from manifests, checks what was written against them and types it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/loader/schema/problems.hpp"
#include "core/loader/schema/schema_key.hpp"

namespace slipway::core {

/// One check of a document: what is wrong, and where every key stands.
struct SchemaCheck {
  explicit SchemaCheck(const std::string& file) : problems(file) {}
  Problems problems;
  std::vector<std::string> remarks;           ///< on what is fine, and should be written in another way by now
  std::map<std::string, Position> positions;  ///< by dotted key; list elements by their number
};

/// The value of a node, typed by its schema: a version that is written 535.10 stays that text where a string is
/// expected. Values stay as written: no defaults, relative paths, the short form of an artifact source.
/// Everything wrong goes into `check.problems`, and the value is then partial. A secret's value is never quoted.
/// @param key  the node's dotted key, for messages and positions; "" for the document
Json check_value(const YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

/// check_value() for a scalar, list or map without a schema (type any): as in YAML 1.2, `true` and `false` are
/// booleans, decimal numbers are numbers, quoted texts are texts; a number with a leading zero stays a text, since
/// YAML versions disagree on it.
Json untyped_value(const YamlNode& node);

/// The dotted key as messages name it: without "spec." and "components." in front.
std::string shown_key(const std::string& key);

/// "key" of an entry below a dotted key.
std::string below(const std::string& key, const std::string& entry);

/// Reports an unknown key with the nearest known one.
void unknown_key(const YamlEntry& entry, const std::string& key, const std::vector<std::string>& known,
                 SchemaCheck& check);

/// Reads one key's schema ({type: string, help: …}) and checks that it makes sense: default and example fit it,
/// nothing is given that its type has no use for. Everything wrong goes into `check`.
SchemaKey parse_schema(const YamlNode& node, const std::string& key, SchemaCheck& check);

/// Reads key names with their schemas: the `keys` of an object, the `spec` of a component.
std::map<std::string, SchemaKey> parse_schema_keys(const YamlNode& node, const std::string& key, SchemaCheck& check);

/// An object with the keys that a text of slipway's own describes. Errors: `invalid` a mistake of that text.
/// @param name  what messages call it
Result<SchemaKey> own_schema(std::string_view text, const std::string& name);

/// The value as written, but for its paths: they are made absolute, so that it means the same from everywhere.
/// @param written  what check_value() gave without a problem
/// @param folder   absolute: what relative paths are relative to
Json absolute_value(const Json& written, const SchemaKey& schema, const std::string& folder);

/// @param written  what check_value() gave without a problem
/// @param folder   absolute: what relative paths are relative to
/// @return the value with defaults filled in, at every depth (an object that is not given is there when it has defaults
///         and no required key), paths absolute, artifact sources in their long form with tag and digest split off
Json complete_value(const Json& written, const SchemaKey& schema, const std::string& folder);

}  // namespace slipway::core
