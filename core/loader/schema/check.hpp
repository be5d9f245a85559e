// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/check.hpp - reads schemas from manifests, and checks and types documents by them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/loader/schema/problems.hpp"
#include "core/loader/schema/schema_key.hpp"

namespace slipway::core {

/// One check of a document: its problems, and the position of every key.
struct SchemaCheck {
  explicit SchemaCheck(const std::string& file) : problems(file) {}
  Problems problems;
  std::vector<std::string> remarks;                 ///< about valid values that should be written differently now
  std::map<std::string, base::Position> positions;  ///< by dotted key; list elements by their number
};

/// Returns the value of a node, typed by its schema: a version written as 535.10 stays text where a string is expected.
/// Keeps values as written: no defaults, relative paths, the short form of an artifact source. Adds all errors to
/// `check.problems`; the value is then partial. Never quotes the value of a secret.
/// @param key  the node's dotted key, for messages and positions; "" for the document
Json check_value(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

/// check_value() for a scalar, list or map without a schema (type any): as in YAML 1.2, `true` and `false` are
/// booleans, decimal numbers are numbers, quoted texts are texts. A number with a leading zero stays text, since YAML
/// versions read such numbers differently.
Json untyped_value(const base::YamlNode& node);

/// The dotted key as messages show it: without the prefixes "spec." and "components.".
std::string shown_key(const std::string& key);

/// The key of an entry below a dotted key.
std::string below(const std::string& key, const std::string& entry);

/// Reports an unknown key with the nearest known one.
void unknown_key(const base::YamlEntry& entry, const std::string& key, const std::vector<std::string>& known,
                 SchemaCheck& check);

/// Reads one key's schema ({type: string, help: …}) and checks it: default and example are valid, and it has no setting
/// that its type does not use. Adds all errors to `check`.
SchemaKey parse_schema(const base::YamlNode& node, const std::string& key, SchemaCheck& check);

/// Reads key names with their schemas: the `keys` of an object, the `spec` of a component.
std::map<std::string, SchemaKey> parse_schema_keys(const base::YamlNode& node, const std::string& key,
                                                   SchemaCheck& check);

/// Parses a schema that is part of slipway itself: an object with keys. Errors: `invalid` when its text has a mistake.
/// @param name  its name in messages
Result<SchemaKey> own_schema(std::string_view text, const std::string& name);

/// Returns the value as written, with its paths made absolute, so that it is valid from any folder.
/// @param written  the result of a check_value() without problems
/// @param folder   absolute: the base of relative paths
Json absolute_value(const Json& written, const SchemaKey& schema, const std::string& folder);

/// @param written  the result of a check_value() without problems
/// @param folder   absolute: the base of relative paths
/// @return the value with defaults filled in, at every depth (a missing object is added when it has defaults and no
///         required key), paths absolute, artifact sources in their long form with tag and digest split off
Json complete_value(const Json& written, const SchemaKey& schema, const std::string& folder);

}  // namespace slipway::core
