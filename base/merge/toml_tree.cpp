// SPDX-License-Identifier: Apache-2.0
#include "base/merge/toml_tree.hpp"

#include "base/merge/document.hpp"
#include "base/merge/toml_depth.hpp"
#include "base/merge/toml_json.hpp"

namespace slipway::merge {
namespace {

using TomlKind = TomlNode::Kind;

/// Converts toml++'s positions to offsets: lines from 1, columns from 1 in code points. A line may be as long as the
/// file and have as many positions, so each search starts at a near mark.
class Places {
 public:
  explicit Places(const std::string& bytes) : bytes_(bytes) {
    lines_.push_back(0);
    std::size_t points = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (is_inside(i)) continue;
      if (points % kBetweenMarks == 0) marks_.push_back(i);
      ++points;
      if (bytes[i] == '\n') lines_.push_back(points);
    }
  }
  std::size_t operator()(const toml::source_position& position) const {
    const std::size_t line = std::min<std::size_t>(position.line, lines_.size());
    const std::size_t point = lines_[line - 1] + (position.column > 0 ? position.column - 1 : 0);
    if (point / kBetweenMarks >= marks_.size()) return bytes_.size();
    std::size_t at = marks_[point / kBetweenMarks];
    for (std::size_t left = point % kBetweenMarks; left > 0 && at < bytes_.size(); --left) do
        ++at;
      while (is_inside(at));
    return at;
  }

 private:
  static constexpr std::size_t kBetweenMarks = 64;
  /// True for a byte of UTF-8 that does not begin a code point.
  bool is_inside(std::size_t at) const {
    return at < bytes_.size() && (static_cast<unsigned char>(bytes_[at]) & 0xC0U) == 0x80;
  }

  const std::string& bytes_;
  std::vector<std::size_t> lines_;  ///< the number of code points before each line
  std::vector<std::size_t> marks_;  ///< the offset of each 64th code point
};

/// Wraps a value that JSON does not have in a form that no spec uses: it equals only itself, and no key leads into it.
Json wrapped(const std::string& text) { return Json::array({"\x01toml", text}); }

class TomlBuilder {
 public:
  explicit TomlBuilder(const std::string& bytes) : bytes_(bytes), place_(bytes) {}

  TomlNode build(const toml::node& node) const {
    TomlNode made;
    made.begin = place_(node.source().begin);
    made.end = place_(node.source().end);
    if (const auto* array = node.as_array()) {
      const bool headed = !array->empty() && array->front().is_table() && bytes_.compare(made.begin, 2, "[[") == 0 &&
                          !array->front().as_table()->is_inline();
      if (!headed) return made;
      made.kind = TomlKind::tables;
      for (const toml::node& element : *array) made.elements.push_back(build(element));
    }
    if (const auto* table = node.as_table()) {
      made.kind = kind_of(*table, made);
      for (const auto& [name, member] : *table) add(made, name, member);
    }
    return made;
  }

 private:
  void add(TomlNode& table, const toml::key& name, const toml::node& member) const {
    TomlNode made = build(member);
    made.key_begin = place_(name.source().begin);
    made.key_end = place_(name.source().end);
    // The table [a.b] and the tables on the way to it have the same header, which defines only its last name.
    if (made.kind == TomlKind::headed && bytes_[next_sign(made.key_end)] == '.' && made.key_begin > made.begin &&
        made.key_begin < made.end)
      made.kind = TomlKind::implicit;
    table.members.emplace(std::string(name.str()), std::move(made));
  }

  std::size_t next_sign(std::size_t at) const {
    return std::min(bytes_.find_first_not_of(" \t", at), bytes_.size() - 1);
  }

  TomlKind kind_of(const toml::table& table, const TomlNode& made) const {
    if (table.is_inline()) return TomlKind::inlined;
    return bytes_[made.begin] == '[' ? TomlKind::headed : TomlKind::dotted;
  }

  const std::string& bytes_;
  Places place_;
};

}  // namespace

Result<TomlTree> read_toml(const std::string& bytes, const std::string& path) {
  if (const std::size_t deep = find_deep_toml_key(bytes); deep != std::string::npos) {
    const auto [line, column] = position_of(bytes, deep);
    return broken(path, line, column, "TOML", "a key has more than " + std::to_string(kMostKeyParts) + " parts");
  }
  const toml::parse_result parsed = toml::parse(std::string_view(bytes));
  if (!parsed) {
    const auto& where = parsed.error().source().begin;
    return broken(path, where.line, where.column, "TOML", std::string(parsed.error().description()));
  }
  TomlTree tree;
  tree.value = json_from_toml(parsed.table(), wrapped);
  if (!bytes.empty()) tree.root = TomlBuilder(bytes).build(parsed.table());
  tree.root.kind = TomlKind::headed;
  tree.root.begin = tree.root.end = 0;
  return tree;
}

}  // namespace slipway::merge
