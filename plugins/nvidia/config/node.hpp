// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/node.hpp - a configuration as a tree of values with their positions in the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/config/scalar_source.hpp"

namespace slipway::nvidia::config {

/// Compares keys without regard to case, as NVIDIA's tools do.
bool same_key(std::string_view one, std::string_view other);

struct Node;
/// Compares two values; their positions do not matter.
bool same_value(const Node& one, const Node& other);

/// One value.
struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string where;              ///< "config.yaml:3:5", or the key path in a host spec
  std::string key_where;          ///< for a map's member: place of its key
  std::string text;               ///< of a scalar
  bool quoted = false;            ///< the scalar is a string even if it looks like another type
  std::vector<std::string> keys;  ///< of a map
  std::vector<Node> items;        ///< of a list, or of a map, one for each key

  bool is_null() const { return kind == Kind::null; }
  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  bool is_scalar() const { return kind == Kind::scalar; }
  /// Returns the member of a map; the null node if there is none.
  const Node& at(std::string_view key) const;
  /// Returns an `invalid` error about this value.
  Error wrong(std::string what, std::string next) const;
  /// Returns an `invalid` error about this member's key.
  Error wrong_key(std::string what, std::string next) const;

  /// Errors: `invalid` the value has another type.
  Result<bool> boolean() const;
  Result<long> number() const;
  Result<std::string> string() const;
  /// Reads one text, or a list of texts.
  Result<std::vector<std::string>> strings() const;
};

/// Returns the error for a map member whose key occurs earlier too.
Error given_twice(const std::string& key, const Node& first, const Node& second);
/// Returns the warning for such a member if both values are equal.
std::string equal_twice(const std::string& key, const Node& first, const Node& second);

/// Returns the values without their positions; all scalars as texts.
Json to_json(const Node& node);

/// Makes a node from a word of an environment variable or a command line.
Node scalar(const std::string& text, const std::string& where);

/// Parses the only document of a file. Input that upstream's programs accept and that is surely a mistake is an error:
/// a repeated key, a second document.
/// @param warnings  receives keys that are repeated with equal values, with their places
/// @param source    the place of the text if it is a scalar in a file, not a file
/// Errors: `invalid` invalid YAML, or one of the mistakes above, with file:line:column.
Result<Node> node_from_yaml(const std::string& text, const std::string& file, std::vector<std::string>& warnings,
                            const ScalarSource* source = nullptr);
/// The same for slipway's own formats: here repeated keys with equal values are an error too.
Result<Node> node_from_yaml(const std::string& text, const std::string& file);
/// Makes a node from a value in a host spec. @param where  its key path
Node node_from_json(const Json& value, const std::string& where);

}  // namespace slipway::nvidia::config
