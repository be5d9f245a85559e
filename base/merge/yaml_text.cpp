// SPDX-License-Identifier: Apache-2.0
// base/merge/yaml_text.cpp - changes one key of a YAML file.
#include "base/merge/document.hpp"
#include "base/merge/yaml_scan.hpp"
#include "base/merge/yaml_tree.hpp"
#include "base/merge/yaml_value.hpp"

namespace slipway::merge {
namespace {

using Kind = YamlNode::Kind;
using Splices = std::vector<Splice>;

constexpr std::size_t kUnit = 2;

Error cannot(const Key& key) {
  return Error{ErrorCode::unsupported,
               to_text(key) + " cannot be changed: an anchor, alias, tag or unusual layout is on the way to it",
               {},
               "change it by hand",
               {}};
}

const YamlNode* find(const YamlNode& map, const std::string& name) {
  for (const YamlNode& member : map.members)
    if (member.name == name) return &member;
  return nullptr;
}

/// Writes members on separate lines, each level indented by kUnit; anything except a non-empty object goes on the key's
/// line.
std::string block_lines(const std::string& name, const Json& value, std::size_t indent) {
  const std::string head = std::string(indent, ' ') + render_yaml(name) + ":";
  if (!value.is_object() || value.empty()) return head + " " + render_yaml(value) + "\n";
  std::string text = head + "\n";
  for (const auto& [inner, member] : value.items()) text += block_lines(inner, member, indent + kUnit);
  return text;
}

class YamlDocument final : public Document {
 public:
  YamlDocument(std::string bytes, YamlTree tree) : bytes_(std::move(bytes)), tree_(std::move(tree)), scan_(bytes_) {}

  const Json& value() const override { return tree_.value; }

  Result<Splices> set(const Key& key, const Json& value) const override {
    if (tree_.root.kind == Kind::null)
      return Splices{lines_at(bytes_.size(), block_lines(key[0], nested(key, 1, value), 0))};
    const YamlNode* node = &tree_.root;
    for (std::size_t depth = 0; depth < key.size(); ++depth) {
      if (node->kind == Kind::null) return fill(*node, key[depth], nested(key, depth + 1, value));
      if (!node->is_map()) return cannot(key);
      const YamlNode* member = find(*node, key[depth]);
      if (member == nullptr) return insert(*node, key[depth], nested(key, depth + 1, value));
      node = member;
    }
    if (node->kind == Kind::odd) return cannot(key);
    return replace(*node, value);
  }

  Result<Splices> erase(const Key& key) const override {
    const YamlNode* map = &tree_.root;
    const YamlNode* owner = nullptr;
    for (std::size_t depth = 0; depth + 1 < key.size(); ++depth) {
      owner = map = find(*map, key[depth]);
      if (map == nullptr || !map->is_map()) return cannot(key);
    }
    const YamlNode* member = find(*map, key.back());
    if (member == nullptr || member->colon_end == 0) return cannot(key);
    if (map->kind == Kind::flow_map) return from_flow(*map, *member, key);
    if (map->members.size() == 1 && owner != nullptr) return replace(*owner, Json::object());
    std::size_t begin = scan_.line_begin(member->key_begin);
    const std::size_t end = scan_.next_line(member->end);
    const bool unended = end == bytes_.size() && end > 0 && bytes_[end - 1] != '\n';
    if (unended && begin > 0) begin -= begin > 1 && bytes_[begin - 2] == '\r' ? std::size_t{2} : std::size_t{1};
    return Splices{{begin, end, {}}};
  }

 private:
  /// Inserts whole lines at the start of a line, or at the end of a text whose last line has no newline, and then adds
  /// none.
  Splice lines_at(std::size_t at, std::string lines) const {
    if (at > 0 && bytes_[at - 1] != '\n') {
      lines.pop_back();
      lines.insert(0, 1, '\n');
    }
    return {at, at, std::move(lines)};
  }

  /// Replaces a value on the key's line in place. A value on separate lines is replaced by one on the key's line;
  /// comments in between stay after it.
  Result<Splices> replace(const YamlNode& node, const Json& value) const {
    const std::string text = render_yaml(value);
    if (node.kind == Kind::null && node.begin == node.end) return Splices{{node.colon_end, node.colon_end, " " + text}};
    std::string gap = bytes_.substr(node.colon_end, node.begin - node.colon_end);
    if (gap.find('\n') == std::string::npos) return Splices{{node.begin, node.end, text}};
    gap.resize(gap.find_last_not_of(" \t\r\n") == std::string::npos ? 0 : gap.find_last_not_of(" \t\r\n") + 1);
    return Splices{{node.colon_end, node.end, " " + text + gap}};
  }

  /// Adds a name below a key that has no value yet.
  Result<Splices> fill(const YamlNode& node, const std::string& name, const Json& value) const {
    const bool own_line = scan_.skip_spaces(scan_.line_begin(node.key_begin)) == node.key_begin;
    if (node.begin != node.end || !own_line || !scan_.rest_is_empty(node.colon_end))
      return replace(node, Json{{name, value}});
    const std::string lines = block_lines(name, value, scan_.column(node.key_begin) + kUnit);
    return Splices{lines_at(scan_.next_line(node.colon_end), lines)};
  }

  Result<Splices> insert(const YamlNode& map, const std::string& name, const Json& value) const {
    if (map.kind == Kind::flow_map) {
      const std::string member = render_yaml(name) + ": " + render_yaml(value);
      if (map.members.empty()) return Splices{{map.begin + 1, map.end - 1, member}};
      const YamlNode& last = map.members.back();
      if (last.kind == Kind::odd) return cannot({name});
      return Splices{{last.end, last.end, ", " + member}};
    }
    const YamlNode& last = map.members.back();
    if (last.colon_end == 0) return cannot({name});
    const std::string lines = block_lines(name, value, scan_.column(map.members.front().key_begin));
    return Splices{lines_at(scan_.next_line(last.end), lines)};
  }

  Result<Splices> from_flow(const YamlNode& map, const YamlNode& member, const Key& key) const {
    for (const YamlNode& other : map.members)
      if (other.kind == Kind::odd) return cannot(key);
    if (map.members.size() == 1) return Splices{{map.begin + 1, map.end - 1, {}}};
    for (std::size_t i = 0; i < map.members.size(); ++i) {
      if (&map.members[i] != &member) continue;
      if (i > 0) return Splices{{map.members[i - 1].end, member.end, {}}};
      return Splices{{member.key_begin, map.members[1].key_begin, {}}};
    }
    return cannot(key);
  }

  std::string bytes_;
  YamlTree tree_;
  YamlScan scan_;
};

}  // namespace

Result<std::unique_ptr<Document>> parse_yaml(const std::string& bytes, const std::string& path) {
  SLIPWAY_TRY(tree, read_yaml(bytes, path));
  return std::unique_ptr<Document>(std::make_unique<YamlDocument>(bytes, std::move(tree)));
}

}  // namespace slipway::merge
