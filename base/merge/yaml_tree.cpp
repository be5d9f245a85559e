// SPDX-License-Identifier: Apache-2.0
#include "base/merge/yaml_tree.hpp"

#include <set>

#include "base/merge/document.hpp"
#include "base/merge/yaml_scan.hpp"
#include "base/merge/yaml_value.hpp"
#include "base/yaml/load.hpp"

namespace slipway::merge {
namespace {

using Kind = YamlNode::Kind;

std::size_t offset(const YAML::Mark& mark) { return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos); }

class Builder {
 public:
  explicit Builder(const std::string& bytes) : bytes_(bytes), scan_(bytes) {}

  /// Returns the document's top-level map.
  YamlNode root(const YAML::Node& node) const {
    YamlNode made;
    made.begin = offset(node.Mark());
    if (bytes_[made.begin] == '{') {
      made.kind = Kind::flow_map;
      made.end = scan_.flow_end(made.begin);
      if (made.end == kNowhere) made.kind = Kind::odd;
    } else {
      made.kind = scan_.column(made.begin) == 0 ? Kind::block_map : Kind::odd;
      made.end = bytes_.size();
    }
    add_members(made, node);
    return made;
  }

 private:
  void add_members(YamlNode& map, const YAML::Node& node) const {
    if (!map.is_map()) return;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) continue;
      YamlNode made = member(entry.first, entry.second, map.kind == Kind::flow_map);
      if (map.kind == Kind::block_map && scan_.column(made.key_begin) != scan_.column(first_key(node)))
        made.kind = Kind::odd;
      map.members.push_back(std::move(made));
    }
    if (map.kind == Kind::block_map && map.members.empty()) map.kind = Kind::odd;  // the map's keys are not texts
  }

  static std::size_t first_key(const YAML::Node& node) { return offset(node.begin()->first.Mark()); }

  YamlNode member(const YAML::Node& key, const YAML::Node& value, bool flow) const {
    YamlNode made;
    made.name = key.Scalar();
    made.key_begin = offset(key.Mark());
    const std::size_t key_end = scan_.key_end(made.key_begin, flow);
    if (key_end == kNowhere) return made;
    made.colon_end = scan_.skip_spaces(key_end) + 1;
    made.begin = made.end = made.colon_end;
    const std::size_t text = scan_.skip_spaces(made.colon_end);
    if (text < bytes_.size() && (bytes_[text] == '*' || bytes_[text] == '&' || bytes_[text] == '!'))
      return odd(made, text, flow);
    if (value.IsNull()) return null(made, text, flow);
    made.begin = offset(value.Mark());
    find_end(made, value, flow);
    if (made.end == kNowhere) made.kind = Kind::odd;
    return made;
  }

  /// Leaves a node with an anchor, a tag or an alias unchanged, but finds its end for the nodes after it.
  YamlNode odd(YamlNode made, std::size_t text, bool flow) const {
    made.begin = text;
    made.end = flow ? text : scan_.block_end(text, scan_.column(made.key_begin));
    return made;
  }

  YamlNode null(YamlNode made, std::size_t text, bool flow) const {
    made.kind = Kind::null;
    const bool nothing =
        flow ? text >= bytes_.size() || bytes_[text] == ',' || bytes_[text] == '}' || scan_.rest_is_empty(text)
             : scan_.rest_is_empty(made.colon_end);
    if (nothing) return made;
    made.begin = text;
    made.end = std::min(bytes_.find_first_of(" \t\r\n,}", text), bytes_.size());
    return made;
  }

  void find_end(YamlNode& made, const YAML::Node& value, bool flow) const {
    const char first = bytes_[made.begin];
    const std::size_t indent = scan_.column(made.key_begin);
    made.kind = Kind::value;
    if (first == '{' || first == '[') {
      made.end = scan_.flow_end(made.begin);
      if (made.end == kNowhere || first == '[') return;
      made.kind = Kind::flow_map;
      add_members(made, value);
    } else if (value.IsScalar()) {
      if (first == '"' || first == '\'')
        made.end = scan_.quoted_end(made.begin);
      else if (!flow && (first == '|' || first == '>'))
        made.end = scan_.block_end(made.begin, indent);
      else
        made.end = scan_.plain_end(made.begin, value.Scalar(), flow);
    } else {
      made.end = scan_.block_end(made.begin, indent);
      if (value.IsMap()) made.kind = Kind::block_map;
      add_members(made, value);
    }
  }

  const std::string& bytes_;
  YamlScan scan_;
};

}  // namespace

Result<YamlTree> read_yaml(const std::string& bytes, const std::string& path) {
  YamlTree tree;
  tree.root.kind = Kind::null;
  tree.value = Json::object();
  try {
    if (yaml::count_documents(bytes) > 1)
      return Error{ErrorCode::unsupported,
                   path + " holds several YAML documents; slipway cannot tell which one to use",
                   path,
                   "keep one document in it, or change it by hand",
                   {}};
    const YAML::Node node = yaml::load(bytes);
    if (node.IsNull()) return tree;
    if (!node.IsMap()) return broken(path, 1, 1, "configuration", "it is not a map at its top");
    std::string duplicate;
    tree.value = to_json(node, duplicate);
    if (!duplicate.empty()) return broken(path, 1, 1, "YAML", "the key '" + duplicate + "' appears twice in one map");
    tree.root = Builder(bytes).root(node);
  } catch (const YAML::Exception& error) {
    return broken(path, static_cast<std::size_t>(error.mark.line) + 1, static_cast<std::size_t>(error.mark.column) + 1,
                  "YAML", error.msg);
  }
  return tree;
}

}  // namespace slipway::merge
