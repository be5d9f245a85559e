// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/node.hpp - a configuration as a tree of values that know where they stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::config {

/// Keys are found whatever their case, as NVIDIA's tools find them.
bool same_key(std::string_view one, std::string_view other);

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

/// One word of an environment variable or a command line.
Node scalar(const std::string& text, const std::string& where);

/// Where a text stands in a file, when it is not all of it.
struct Position {
  int line = 0;    ///< lines before it
  int column = 0;  ///< letters before it in each line
};

/// Errors: `invalid` no YAML, with file:line:column.
Result<Node> node_from_yaml(const std::string& text, const std::string& file, Position at = {});
/// Of a value that a host spec holds. @param where  its key path
Node node_from_json(const Json& value, const std::string& where);

}  // namespace slipway::nvidia::config
