// SPDX-License-Identifier: Apache-2.0
// base/merge/json_text.cpp - edits JSON files. nlohmann-json checks and reads the text; a scan of the valid text finds
// the positions.
#include <map>

#include "base/merge/document.hpp"
#include "base/merge/json_fault.hpp"

namespace slipway::merge {
namespace {

constexpr const char* kBlank = " \t\r\n";

struct Member;

/// A value's position, and for an object its members in order.
struct Node {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool object = false;
  std::vector<Member> members;
};

struct Member {
  std::string name;
  std::size_t key_begin = 0;
  std::size_t key_end = 0;
  Node value;
};

/// Walks over valid JSON. Skips arrays: no key leads into them.
class Scanner {
 public:
  explicit Scanner(const std::string& bytes) : bytes_(bytes) {}

  Node scan() {
    skip_blank();
    return value();
  }

 private:
  void skip_blank() { at_ = std::min(bytes_.find_first_not_of(kBlank, at_), bytes_.size()); }

  void skip_string() {
    for (++at_; bytes_[at_] != '"'; ++at_)
      if (bytes_[at_] == '\\') ++at_;
    ++at_;
  }

  /// Skips a list or a scalar with everything inside it.
  void skip_value() {
    std::size_t depth = 0;
    do {
      const char c = bytes_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      const bool scalar = depth == 0 && c != ']' && c != '}';
      if (scalar) at_ = std::min(bytes_.find_first_of(",]} \t\r\n", at_), bytes_.size());
    } while (depth > 0);
  }

  Node value() {
    Node node;
    node.begin = at_;
    node.object = bytes_[at_] == '{';
    if (node.object)
      object(node);
    else
      skip_value();
    node.end = at_;
    return node;
  }

  void object(Node& node) {
    ++at_;
    for (skip_blank(); bytes_[at_] != '}'; skip_blank()) {
      if (bytes_[at_] == ',') {
        ++at_;
        skip_blank();
      }
      Member member;
      member.key_begin = at_;
      skip_string();
      member.key_end = at_;
      member.name = Json::parse(bytes_.substr(member.key_begin, at_ - member.key_begin)).get<std::string>();
      at_ = bytes_.find(':', at_) + 1;
      skip_blank();
      member.value = value();
      node.members.push_back(std::move(member));
    }
    ++at_;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// The file's style of spacing, taken from the text beside the edit.
struct Style {
  bool lines = false;       ///< members are on separate lines
  std::string indent;       ///< the indent of a member
  std::string unit = "  ";  ///< the additional indent of a deeper level
  std::string colon = ": ";
};

std::string rendered(const Json& value, const Style& style) {
  if (!style.lines) {
    std::string text = value.dump();
    if (style.colon == ":" || !value.is_structured()) return text;
    // Uses the spacing of `"a": 1` also for nested values.
    if (value.is_object()) {
      text = "{";
      for (const auto& [name, member] : value.items())
        text += (text.size() > 1 ? ", " : "") + Json(name).dump() + style.colon + rendered(member, style);
      return text + "}";
    }
    text = "[";
    for (const Json& element : value) text += (text.size() > 1 ? ", " : "") + rendered(element, style);
    return text + "]";
  }
  const bool tab = style.unit.starts_with('\t');
  const std::string text = value.dump(tab ? 1 : static_cast<int>(style.unit.size()), tab ? '\t' : ' ');
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += style.indent;
  }
  return indented;
}

class JsonDocument final : public Document {
 public:
  JsonDocument(std::string bytes, Json value, Node root)
      : bytes_(std::move(bytes)), value_(std::move(value)), root_(std::move(root)) {}

  const Json& value() const override { return value_; }

  Result<std::vector<Splice>> set(const Key& key, const Json& value) const override {
    if (bytes_.find_first_not_of(kBlank) == std::string::npos)
      return std::vector{Splice{0, 0, nested(key, 0, value).dump(2) + "\n"}};
    const Node* node = &root_;
    for (std::size_t depth = 0; depth < key.size(); ++depth) {
      if (!node->object) return replace(*node, nested(key, depth, value));  // null
      const Member* member = find(*node, key[depth]);
      if (member == nullptr) return insert(*node, key[depth], nested(key, depth + 1, value));
      node = &member->value;
    }
    return replace(*node, value);
  }

  Result<std::vector<Splice>> erase(const Key& key) const override {
    const Node* node = &root_;
    for (std::size_t depth = 0; depth + 1 < key.size(); ++depth) node = &find(*node, key[depth])->value;
    const auto& members = node->members;
    std::size_t index = 0;
    while (members[index].name != key.back()) ++index;
    if (members.size() == 1) return std::vector{Splice{node->begin + 1, node->end - 1, {}}};
    if (index == 0) return std::vector{Splice{members[0].key_begin, members[1].key_begin, {}}};
    return std::vector{Splice{members[index - 1].value.end, members[index].value.end, {}}};
  }

 private:
  static const Member* find(const Node& node, const std::string& name) {
    for (const Member& member : node.members)
      if (member.name == name) return &member;
    return nullptr;
  }

  std::string line_indent(std::size_t offset) const {
    const std::size_t newline = offset == 0 ? std::string::npos : bytes_.rfind('\n', offset - 1);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return bytes_.substr(begin, std::min(bytes_.find_first_not_of(" \t", begin), bytes_.size()) - begin);
  }

  /// Returns the indent of the document's first level.
  std::string unit() const {
    if (root_.members.empty()) return "  ";
    const std::size_t first = root_.members.front().key_begin;
    const bool own_line = bytes_.substr(root_.begin, first - root_.begin).find('\n') != std::string::npos;
    const std::string indent = own_line ? line_indent(first) : "";
    return indent.empty() ? "  " : indent;
  }

  Style style_of(const Node& object) const {
    Style style;
    style.unit = unit();
    if (object.members.empty()) {
      const bool spread = bytes_.find('\n', root_.begin) < root_.end;
      style.lines = spread || &object == &root_;
      style.indent = line_indent(object.begin) + style.unit;
      return style;
    }
    const Member& last = object.members.back();
    const std::size_t gap = bytes_.find_last_not_of(kBlank, last.key_begin - 1) + 1;
    style.lines = bytes_.substr(gap, last.key_begin - gap).find('\n') != std::string::npos;
    style.indent = line_indent(last.key_begin);
    style.colon = bytes_.substr(last.key_end, last.value.begin - last.key_end);
    if (style.colon.find('\n') != std::string::npos) style.colon = ": ";
    return style;
  }

  Result<std::vector<Splice>> replace(const Node& node, const Json& value) const {
    Style style;
    style.unit = unit();
    style.indent = line_indent(node.begin);
    style.lines = value.is_structured() && !value.empty() && bytes_.find('\n', root_.begin) < root_.end;
    return std::vector{Splice{node.begin, node.end, rendered(value, style)}};
  }

  Result<std::vector<Splice>> insert(const Node& object, const std::string& name, const Json& value) const {
    const Style style = style_of(object);
    const std::string member = Json(name).dump() + style.colon + rendered(value, style);
    if (object.members.empty()) {
      const std::string text = style.lines ? "\n" + style.indent + member + "\n" + line_indent(object.begin) : member;
      return std::vector{Splice{object.begin + 1, object.end - 1, text}};
    }
    const Member& last = object.members.back();
    const std::size_t gap = bytes_.find_last_not_of(kBlank, last.key_begin - 1) + 1;
    const bool only = object.members.size() == 1;
    // With one member, the blank after the brace does not tell what follows commas.
    const std::string between = style.lines ? "\n" + style.indent
                                : only      ? (style.colon == ":" ? "" : " ")
                                            : bytes_.substr(gap, last.key_begin - gap);
    return std::vector{Splice{last.value.end, last.value.end, "," + between + member}};
  }

  std::string bytes_;
  Json value_;
  Node root_;
};

/// Notes duplicate names in an object while nlohmann-json parses: it would silently keep the last one.
struct Duplicates {
  std::vector<std::map<std::string, bool>> open;
  std::string found;

  bool operator()(int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().emplace(value.get<std::string>(), true).second)
      found = value.get<std::string>();
    return true;
  }
};

}  // namespace

Result<std::unique_ptr<Document>> parse_json(const std::string& bytes, const std::string& path) {
  if (bytes.find_first_not_of(kBlank) == std::string::npos)
    return std::unique_ptr<Document>(std::make_unique<JsonDocument>(bytes, Json::object(), Node{}));
  if (const auto fault = find_json_fault(bytes)) {
    const auto [line, column] = position_of(bytes, fault->offset_bytes);
    return broken(path, line, column, "JSON", fault->why);
  }
  Duplicates duplicates;
  Json value = Json::parse(bytes, std::ref(duplicates));
  if (!duplicates.found.empty())
    return broken(path, 1, 1, "JSON", "the key '" + duplicates.found + "' appears twice in one object");
  if (!value.is_object()) return broken(path, 1, 1, "configuration", "it is not an object at its top");
  Node root = Scanner(bytes).scan();
  return std::unique_ptr<Document>(std::make_unique<JsonDocument>(bytes, std::move(value), std::move(root)));
}

}  // namespace slipway::merge
