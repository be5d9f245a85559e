// SPDX-License-Identifier: Apache-2.0
// base/merge/toml_text.cpp - changes one key of a TOML file.
#include <algorithm>

#include "base/merge/document.hpp"
#include "base/merge/toml_json.hpp"
#include "base/merge/toml_tree.hpp"

namespace slipway::merge {
namespace {

using TomlKind = TomlNode::Kind;
using Splices = std::vector<Splice>;

Error cannot(const Key& key, const std::string& why) {
  return Error{ErrorCode::unsupported, to_text(key) + " cannot be changed: " + why, {}, "change it by hand", {}};
}

/// Returns the existing nodes on the way to a key, the root first.
std::vector<const TomlNode*> way_to(const TomlNode& root, const Key& key) {
  std::vector<const TomlNode*> way{&root};
  for (const std::string& name : key) {
    const auto member = way.back()->members.find(name);
    if (!way.back()->is_table() || member == way.back()->members.end()) break;
    way.push_back(&member->second);
  }
  return way;
}

/// Returns the end of the values in a table's own section: parts with a header of their own are not included.
std::size_t last_end(const TomlNode& table) {
  std::size_t end = 0;
  for (const auto& [name, member] : table.members) {
    if (member.kind == TomlKind::value || member.kind == TomlKind::inlined) end = std::max(end, member.end);
    if (member.kind == TomlKind::dotted) end = std::max(end, last_end(member));
  }
  return end;
}

class TomlDocument final : public Document {
 public:
  TomlDocument(std::string bytes, TomlTree tree) : bytes_(std::move(bytes)), tree_(std::move(tree)) {}

  const Json& value() const override { return tree_.value; }

  Result<Splices> set(const Key& key, const Json& value) const override {
    const auto way = way_to(tree_.root, key);
    const TomlNode& existing = *way.back();
    if (way.size() > key.size()) {
      if (existing.kind == TomlKind::tables) return cannot(key, "it is a list of [[tables]]");
      SLIPWAY_TRY(text, render_toml(value));
      return Splices{{existing.begin, existing.end, text}};
    }
    const std::size_t depth = way.size() - 1;
    switch (existing.kind) {
      case TomlKind::inlined:
        return into_inline(existing, key, depth, value);
      case TomlKind::dotted:
        return beside_dotted(way, key, depth, value);
      case TomlKind::headed:
        if (depth + 1 == key.size()) return into_section(existing, key, value);
        [[fallthrough]];
      case TomlKind::implicit:
        return new_section(key, value);
      default:
        return cannot(key, "the path to the key leads through a list");
    }
  }

  Result<Splices> erase(const Key& key) const override {
    const auto way = way_to(tree_.root, key);
    const TomlNode& node = *way[key.size()];
    std::size_t top = key.size();  // the outermost name of a dotted key starts the entry
    while (top > 1 && way[top - 1]->kind == TomlKind::dotted) --top;
    if (way[top - 1]->kind == TomlKind::inlined) return from_inline(*way[top - 1], node, *way[top]);
    Splices splices;
    erase_below(node, splices);
    return merged(std::move(splices));
  }

 private:
  std::size_t line_begin(std::size_t at) const {
    const std::size_t newline = at == 0 ? std::string::npos : bytes_.rfind('\n', at - 1);
    return newline == std::string::npos ? 0 : newline + 1;
  }
  /// Returns the offset after the newline; the size of the text when there is none.
  std::size_t line_end(std::size_t at) const {
    const std::size_t newline = bytes_.find('\n', at);
    return newline == std::string::npos ? bytes_.size() : newline + 1;
  }
  std::string indent(std::size_t at) const {
    const std::size_t begin = line_begin(at);
    return bytes_.substr(begin, std::min(bytes_.find_first_not_of(" \t", begin), at) - begin);
  }

  /// Inserts a line after the line of `after`; uses the text's kind of line end.
  Splice line_after(std::size_t after, const std::string& line) const {
    const std::size_t at = line_end(after);
    const bool ended = at > 0 && bytes_[at - 1] == '\n';
    return {at, at, ended || at == 0 ? line + "\n" : "\n" + line};
  }

  static std::string dotted(const Key& key, std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < to; ++i) text += (text.empty() ? "" : ".") + render_toml_name(key[i]);
    return text;
  }

  Result<Splices> into_section(const TomlNode& table, const Key& key, const Json& value) const {
    SLIPWAY_TRY(text, render_toml(value));
    const std::size_t last = last_end(table);
    const std::string line = render_toml_name(key.back()) + " = " + text;
    if (last > 0) return Splices{line_after(last, indent(entry_begin(table, last)) + line)};
    if (&table == &tree_.root) return Splices{{0, 0, line + "\n"}};
    return Splices{line_after(table.end, indent(table.begin) + line)};
  }

  /// Returns the start of the entry that ends at `end`.
  static std::size_t entry_begin(const TomlNode& table, std::size_t end) {
    for (const auto& [name, member] : table.members) {
      if ((member.kind == TomlKind::value || member.kind == TomlKind::inlined) && member.end == end)
        return member.key_begin;
      if (member.kind == TomlKind::dotted && last_end(member) == end) return entry_begin(member, end);
    }
    return end;
  }

  Result<Splices> new_section(const Key& key, const Json& value) const {
    SLIPWAY_TRY(text, render_toml(value));
    std::string section = "[" + dotted(key, 0, key.size() - 1) + "]\n" + render_toml_name(key.back()) + " = " + text;
    if (bytes_.empty()) return Splices{{0, 0, section + "\n"}};
    section = bytes_.back() == '\n' ? "\n" + section + "\n" : "\n\n" + section;
    return Splices{{bytes_.size(), bytes_.size(), section}};
  }

  Result<Splices> beside_dotted(const std::vector<const TomlNode*>& way, const Key& key, std::size_t depth,
                                const Json& value) const {
    std::size_t top = depth;
    while (top > 1 && way[top - 1]->kind == TomlKind::dotted) --top;
    SLIPWAY_TRY(text, render_toml(value));
    const std::string entry = dotted(key, top - 1, key.size()) + " = " + text;
    const std::size_t last = last_end(*way[depth]);
    if (last == 0) return cannot(key, "the table is spread over the file, so nothing can be added to it");
    if (way[top - 1]->kind == TomlKind::inlined) return Splices{{last, last, ", " + entry}};
    return Splices{line_after(last, indent(entry_begin(*way[depth], last)) + entry)};
  }

  static Result<Splices> into_inline(const TomlNode& table, const Key& key, std::size_t depth, const Json& value) {
    SLIPWAY_TRY(text, render_toml(nested(key, depth + 1, value)));
    const std::string entry = render_toml_name(key[depth]) + " = " + text;
    const std::size_t last = last_end(table);
    if (last == 0) return Splices{{table.begin + 1, table.end - 1, " " + entry + " "}};
    return Splices{{last, last, ", " + entry}};
  }

  /// Also removes a comma: the one before, or for the first entry the one after.
  Result<Splices> from_inline(const TomlNode& table, const TomlNode& node, const TomlNode& top) const {
    if (node.kind == TomlKind::dotted) return cannot({}, "the key is a dotted part of an inline table");
    const std::size_t before = bytes_.find_last_not_of(" \t", top_begin(top, node) - 1);
    const std::size_t behind = bytes_.find_first_not_of(" \t", node.end);
    if (bytes_[before] == ',') return Splices{{before, node.end, {}}};
    if (bytes_[behind] == ',') {
      const std::size_t next = bytes_.find_first_not_of(" \t", behind + 1);
      return Splices{{before + 1, next, bytes_.substr(before + 1, top_begin(top, node) - before - 1)}};
    }
    return Splices{{table.begin + 1, table.end - 1, {}}};
  }

  /// Returns the start of the dotted key that has the value `node`: on its own line, or backwards from its own name.
  std::size_t top_begin(const TomlNode& top, const TomlNode& node) const {
    if (&top == &node) return node.key_begin;
    std::size_t at = node.key_begin;
    while (at > 0 && bytes_.find_last_not_of(" \t", at - 1) != std::string::npos &&
           bytes_[bytes_.find_last_not_of(" \t", at - 1)] == '.') {
      const std::size_t dot = bytes_.find_last_not_of(" \t", at - 1);
      const std::size_t name_end = bytes_.find_last_not_of(" \t", dot - 1);
      at = name_begin(name_end);
    }
    return at;
  }

  /// Returns the start of the name that ends at `last`.
  std::size_t name_begin(std::size_t last) const {
    const char quote = bytes_[last];
    if (quote == '"' || quote == '\'') {
      std::size_t at = last - 1;
      while (bytes_[at] != quote || (quote == '"' && bytes_[at - 1] == '\\')) --at;
      return at;
    }
    std::size_t at = last;
    const auto bare = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
    while (at > 0 && bare(bytes_[at - 1])) --at;
    return at;
  }

  /// Erases the lines of all entries and headers of a node.
  void erase_below(const TomlNode& node, Splices& splices) const {
    if (node.kind == TomlKind::value || node.kind == TomlKind::inlined) {
      std::size_t begin = line_begin(node.key_begin);
      std::size_t end = line_end(node.end);
      const bool unended = end == bytes_.size() && (end == 0 || bytes_[end - 1] != '\n');
      if (unended && begin > 0) begin -= begin > 1 && bytes_[begin - 2] == '\r' ? std::size_t{2} : std::size_t{1};
      splices.push_back({begin, end, {}});
      return;
    }
    if (node.kind == TomlKind::headed) splices.push_back({header_begin(node), line_end(node.end), {}});
    for (const auto& [name, member] : node.members) erase_below(member, splices);
    for (const TomlNode& element : node.elements) erase_below(element, splices);
  }

  /// Includes one empty line above a header.
  std::size_t header_begin(const TomlNode& table) const {
    const std::size_t begin = line_begin(table.begin);
    if (begin == 0) return 0;
    const std::size_t above = line_begin(begin - 1);
    const bool empty = bytes_.find_first_not_of(" \t\r", above) == begin - 1;
    return empty ? above : begin;
  }

  static Splices merged(Splices splices) {
    std::sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
    Splices result;
    for (Splice& splice : splices) {
      if (!result.empty() && splice.begin <= result.back().end)
        result.back().end = std::max(result.back().end, splice.end);
      else
        result.push_back(std::move(splice));
    }
    return result;
  }

  std::string bytes_;
  TomlTree tree_;
};

}  // namespace

Result<std::unique_ptr<Document>> parse_toml(const std::string& bytes, const std::string& path) {
  SLIPWAY_TRY(tree, read_toml(bytes, path));
  return std::unique_ptr<Document>(std::make_unique<TomlDocument>(bytes, std::move(tree)));
}

}  // namespace slipway::merge
