// SPDX-License-Identifier: Apache-2.0
// base/merge/yaml_tree.hpp - a YAML file as maps and values with their places in the text.
//
// yaml-cpp reads the file and gives the start of each node; the end of a node is found in the text from there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::merge {

struct YamlNode {
  enum class Kind {
    null,       ///< nothing, or "~"
    value,      ///< a scalar, or a list
    block_map,  ///< members on lines of their own
    flow_map,   ///< { … }
    odd,        ///< an alias, a tag or a layout that is not edited
  };
  Kind kind = Kind::odd;
  std::string name;
  std::size_t key_begin = 0;
  std::size_t colon_end = 0;  ///< past the colon after the key
  std::size_t begin = 0;      ///< of the value; colon_end when there is none
  std::size_t end = 0;
  std::vector<YamlNode> members;

  bool is_map() const { return kind == Kind::block_map || kind == Kind::flow_map; }
};

struct YamlTree {
  YamlNode root;  ///< null for a document without content
  Json value;     ///< an object; {} for a document without content
};

/// Errors: `invalid` with the place; `unsupported` for several documents in one file.
Result<YamlTree> read_yaml(const std::string& bytes, const std::string& path);

}  // namespace slipway::merge
