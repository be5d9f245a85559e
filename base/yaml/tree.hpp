// SPDX-License-Identifier: Apache-2.0
// base/yaml/tree.hpp - YAML text as a tree with the positions of all parts, and without guessed types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::base {

/// A position in a text. Both count from 1, the column in characters; 0 means that there is no position.
struct Position {
  int line = 0;
  int column = 0;
};

/// Returns "file:line:column", or only the file when there is no position.
std::string to_text(const std::string& file, Position position);

struct YamlEntry;

/// A node with its aliases replaced by their values. A scalar is the text as written: types come from a schema.
struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Position position;
  std::string text;                ///< of a scalar
  bool quoted = false;             ///< a scalar in quotes, in block form, or tagged !!str
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order written; keys are unique

  const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Position position;  ///< of the key
  YamlNode value;
};

/// Limits for reading: an alias bomb, or a core dump named as spec, ends in an error, not in swapping.
inline constexpr std::size_t kYamlMaxBytes = 1 << 20;
inline constexpr std::size_t kYamlMaxNodes = 100'000;         ///< aliases count with their expanded size
inline constexpr std::size_t kYamlMaxTextBytes = 16U << 20U;  ///< all scalars, aliases expanded
inline constexpr std::size_t kYamlMaxDepth = 64;

/// Returns all documents of a text; empty for a text without content.
/// Errors: `invalid`, with origin:line:column and an explanation (tabs, indentation, a duplicate key, an open bracket,
/// …).
Result<std::vector<YamlNode>> read_yaml(std::string_view text, const std::string& origin);

/// Converts a JSON value as if it had been written in YAML; its nodes have no position.
YamlNode yaml_from_json(const Json& value);

}  // namespace slipway::base
