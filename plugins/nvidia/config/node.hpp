// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/node.hpp - a configuration as a tree of values that know where they stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/config/scalar_source.hpp"

namespace slipway::nvidia::config {

/// Keys are found whatever their case, as NVIDIA's tools find them.
bool same_key(std::string_view one, std::string_view other);

struct Node;
/// Wherever they stand.
bool same_value(const Node& one, const Node& other);

/// One value.
struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string where;              ///< "config.yaml:3:5", or the key path in a host spec
  std::string key_where;          ///< of a map's member: where its key stands
  std::string text;               ///< of a scalar
  bool quoted = false;            ///< a scalar that is a text whatever it looks like
  std::vector<std::string> keys;  ///< of a map
  std::vector<Node> items;        ///< of a list, or of a map, one for each key

  bool is_null() const { return kind == Kind::null; }
  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  bool is_scalar() const { return kind == Kind::scalar; }
  /// The member of a map; the null node where there is none.
  const Node& at(std::string_view key) const;
  /// An `invalid` error about this value.
  Error wrong(std::string what, std::string next) const;
  /// The same about this member's key.
  Error wrong_key(std::string what, std::string next) const;

  /// Errors: `invalid` no such value.
  Result<bool> boolean() const;
  Result<long> number() const;
  Result<std::string> string() const;
  /// One text, or a list of them.
  Result<std::vector<std::string>> strings() const;
};

/// The error about a member of a map whose key an earlier one has.
Error given_twice(const std::string& key, const Node& first, const Node& second);
/// The warning where both values are equal.
std::string equal_twice(const std::string& key, const Node& first, const Node& second);

/// One word of an environment variable or a command line.
Node scalar(const std::string& text, const std::string& where);

/// Of the first and only document of a file. What upstream's programs read and the user can hardly mean is an error: a
/// key that is given twice, a second document.
/// @param warnings  gets the keys that are given twice with equal values, with their places
/// @param source    where the text stands, when it is not a file but a scalar of one
/// Errors: `invalid` no YAML, or what is said above, with file:line:column.
Result<Node> node_from_yaml(const std::string& text, const std::string& file, std::vector<std::string>& warnings,
                            const ScalarSource* source = nullptr);
/// The same, for formats of slipway's own: equal values of one key are an error, too.
Result<Node> node_from_yaml(const std::string& text, const std::string& file);
/// Of a value that a host spec holds. @param where  its key path
Node node_from_json(const Json& value, const std::string& where);

}  // namespace slipway::nvidia::config
