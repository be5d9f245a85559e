// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/node.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <strings.h>

#include "base/yaml/load.hpp"

namespace slipway::nvidia::config {
namespace {

bool means_null(const std::string& text) { return text.empty() || text == "~" || text == "null" || text == "Null"; }

/// YAML's parser takes a tab for the first letter of a value, and reports an error about the next line.
std::optional<YAML::Mark> tab_in_indentation(std::string_view text, const YAML::Mark& until) {
  YAML::Mark mark;
  for (mark.line = 0; mark.line <= until.line && mark.pos < static_cast<int>(text.size()); ++mark.line) {
    const std::string_view rest = text.substr(static_cast<std::size_t>(mark.pos));
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
    if (tab != std::string_view::npos && line.find_first_not_of(" \t\r") != std::string_view::npos) {
      mark.column = static_cast<int>(tab);
      return mark;
    }
    mark.pos += static_cast<int>(line.size()) + 1;
  }
  return std::nullopt;
}

/// Reads one file, and stops at the first error.
class Reader {
 public:
  Reader(const std::string& file, const ScalarSource* source, std::vector<std::string>* warnings)
      : file_(file), source_(source), warnings_(warnings) {}

  std::string place(const YAML::Mark& mark) const {
    if (mark.is_null()) return file_;
    TextPlace place{static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
    if (source_ != nullptr) place = source_->place_of(place);
    return file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  }

  Result<Node> read(const YAML::Node& yaml) const {
    Node node;
    node.where = place(yaml.Mark());
    if (yaml.IsScalar()) {
      node.text = yaml.Scalar();
      node.quoted = yaml.Tag() == "!";
      node.kind = !node.quoted && means_null(node.text) ? Node::Kind::null : Node::Kind::scalar;
    } else if (yaml.IsSequence()) {
      node.kind = Node::Kind::list;
      for (const auto& item : yaml) {
        SLIPWAY_TRY(read_item, read(item));
        node.items.push_back(std::move(read_item));
      }
    } else if (yaml.IsMap()) {
      node.kind = Node::Kind::map;
      std::map<std::string, std::size_t> places;  // index in `node` by key
      for (const auto& entry : yaml) SLIPWAY_CHECK(add(entry.first, entry.second, places, node));
    }
    return node;
  }

 private:
  Status add(const YAML::Node& key, const YAML::Node& value, std::map<std::string, std::size_t>& places,
             Node& map) const {
    const std::string where = place(key.Mark());
    if (!key.IsScalar())
      return Error{ErrorCode::invalid, "expected a key, found a list or map", where, "write `key: value`", {}};
    const std::string& name = key.Scalar();
    if (name == "<<" && key.Tag() != "!")
      return Error{ErrorCode::invalid, "merge keys (<<) are not supported", where, "write the keys out", {}};
    SLIPWAY_TRY(member, read(value));
    member.key_where = where;
    const auto [first, is_new] = places.emplace(name, map.items.size());
    if (is_new) {
      map.keys.push_back(name);
      map.items.push_back(std::move(member));
      return {};
    }
    const Node& before = map.items[first->second];
    if (warnings_ == nullptr || !same_value(before, member)) return given_twice(name, before, member);
    warnings_->push_back(equal_twice(name, before, member));
    return {};
  }

  const std::string& file_;
  const ScalarSource* source_;
  std::vector<std::string>* warnings_;
};

Result<Node> read_yaml(const std::string& text, const std::string& file, std::vector<std::string>* warnings,
                       const ScalarSource* source) {
  const Reader reader(file, source, warnings);
  const auto wrong = [&reader](const std::string& what, const YAML::Mark& mark, const std::string& next) {
    return Error{ErrorCode::invalid, what, reader.place(mark), next, {}};
  };
  try {
    const YAML::Node first = yaml::load(text);
    if (const auto second = yaml::second_document(text))
      return wrong("a second document begins here, and only the first would be read", *second,
                   "put it into a file of its own, or leave out the line --- and what follows it");
    return reader.read(first);
  } catch (const YAML::Exception& problem) {
    if (const auto tab = tab_in_indentation(text, problem.mark))
      return wrong("a tab is used for indentation, which YAML does not allow", *tab, "replace the tab by spaces");
    return wrong("this " + yaml::problem_text(problem), problem.mark, "look at the line and those before it");
  }
}

/// Reads a boolean like Go's strconv.ParseBool.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"})
    if (text == word) return true;
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"})
    if (text == word) return false;
  return std::nullopt;
}

}  // namespace

bool same_value(const Node& one, const Node& other) {
  return one.kind == other.kind && one.text == other.text && one.quoted == other.quoted && one.keys == other.keys &&
         std::ranges::equal(one.items, other.items, same_value);
}

bool same_key(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

const Node& Node::at(std::string_view key) const {
  static const Node none;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (same_key(keys[i], key)) return items[i];
  return none;
}

Error Node::wrong(std::string what, std::string next) const {
  return Error{.code = ErrorCode::invalid, .what = std::move(what), .where = where, .next = std::move(next)};
}

Error Node::wrong_key(std::string what, std::string next) const {
  return Error{.code = ErrorCode::invalid, .what = std::move(what), .where = key_where, .next = std::move(next)};
}

Result<bool> Node::boolean() const {
  const auto parsed = is_scalar() ? parse_bool(text) : std::nullopt;
  if (!parsed) return wrong("'" + text + "' is neither true nor false", "write true or false");
  return *parsed;
}

Result<long> Node::number() const {
  long value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_scalar() || problem != std::errc{} || end != text.data() + text.size())
    return wrong("'" + text + "' is not a whole number", "write it with digits only");
  return value;
}

Result<std::string> Node::string() const {
  if (!is_scalar()) return wrong("expected a string", "write one value, not a list or map");
  return text;
}

Result<std::vector<std::string>> Node::strings() const {
  if (is_scalar()) return std::vector<std::string>{text};
  if (!is_list()) return wrong("expected a string or a list of strings", "write [one, another]");
  std::vector<std::string> all;
  for (const Node& item : items) {
    SLIPWAY_TRY(one, item.string());
    all.push_back(one);
  }
  return all;
}

Json to_json(const Node& node) {
  if (node.is_null()) return nullptr;
  if (node.is_scalar()) return node.text;
  Json value = node.is_map() ? Json::object() : Json::array();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.is_map())
      value[node.keys[i]] = to_json(node.items[i]);
    else
      value.push_back(to_json(node.items[i]));
  }
  return value;
}

Node scalar(const std::string& text, const std::string& where) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.where = where;
  node.text = text;
  return node;
}

Error given_twice(const std::string& key, const Node& first, const Node& second) {
  return second.wrong_key("'" + key + "' is given twice; the other value is at " + first.where,
                          "leave one of the two out");
}

std::string equal_twice(const std::string& key, const Node& first, const Node& second) {
  return second.key_where + ": '" + key + "' is given twice, first at " + first.key_where + "; the values are equal";
}

Result<Node> node_from_yaml(const std::string& text, const std::string& file, std::vector<std::string>& warnings,
                            const ScalarSource* source) {
  return read_yaml(text, file, &warnings, source);
}

Result<Node> node_from_yaml(const std::string& text, const std::string& file) {
  return read_yaml(text, file, nullptr, nullptr);
}

Node node_from_json(const Json& value, const std::string& where) {
  Node node;
  node.where = where;
  if (value.is_object()) {
    node.kind = Node::Kind::map;
    for (const auto& [key, member] : value.items()) {
      node.keys.push_back(key);
      node.items.push_back(node_from_json(member, where + "." + key));
      node.items.back().key_where = node.items.back().where;
    }
  } else if (value.is_array()) {
    node.kind = Node::Kind::list;
    for (std::size_t i = 0; i < value.size(); ++i)
      node.items.push_back(node_from_json(value[i], where + "[" + std::to_string(i) + "]"));
  } else if (!value.is_null()) {
    node.kind = Node::Kind::scalar;
    node.quoted = value.is_string();
    node.text = node.quoted ? value.get<std::string>() : canonical(value);
  }
  return node;
}

}  // namespace slipway::nvidia::config
