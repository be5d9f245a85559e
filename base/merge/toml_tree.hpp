// SPDX-License-Identifier: Apache-2.0
// base/merge/toml_tree.hpp - a TOML file as tables and values with their places in the text.
//
// toml++ gives the line and column of every value, key and header. This file derives how each table was defined,
// because that decides how a key can be added to it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::merge {

struct TomlNode {
  enum class Kind {
    value,     ///< a scalar or an array written in brackets
    inlined,   ///< { … }
    headed,    ///< [a.b], or the root
    implicit,  ///< the `a` of [a.b] without an [a]
    dotted,    ///< the `a` of `a.b = 1`
    tables,    ///< [[a]]: a list of tables
  };
  Kind kind = Kind::value;
  std::size_t key_begin = 0;  ///< of the name's first occurrence
  std::size_t key_end = 0;
  std::size_t begin = 0;  ///< value, inlined: of the value; headed: of the header, from "[" to past "]"
  std::size_t end = 0;
  std::map<std::string, TomlNode> members;
  std::vector<TomlNode> elements;  ///< the elements of a list of tables

  bool is_table() const { return kind != Kind::value && kind != Kind::tables; }
};

struct TomlTree {
  TomlNode root;
  Json value;
};

/// Errors: `invalid` with the position.
Result<TomlTree> read_toml(const std::string& bytes, const std::string& path);

}  // namespace slipway::merge
