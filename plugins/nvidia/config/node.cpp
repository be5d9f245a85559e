// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/node.hpp"

#include <algorithm>
#include <charconv>

#include <strings.h>

#include <slipway/yaml/load.hpp>

namespace slipway::nvidia::config {
namespace {

struct Source {
  const std::string& file;
  Position at;
  std::string of(const YAML::Mark& mark) const {
    if (mark.is_null()) return file;
    return file + ":" + std::to_string(mark.line + 1 + at.line) + ":" + std::to_string(mark.column + 1 + at.column);
  }
};

bool means_null(const std::string& text) { return text.empty() || text == "~" || text == "null" || text == "Null"; }

Node convert(const YAML::Node& yaml, const Source& source) {
  Node node;
  node.where = source.of(yaml.Mark());
  if (yaml.IsScalar()) {
    node.text = yaml.Scalar();
    node.quoted = yaml.Tag() == "!";
    node.kind = !node.quoted && means_null(node.text) ? Node::Kind::null : Node::Kind::scalar;
  } else if (yaml.IsSequence()) {
    node.kind = Node::Kind::list;
    for (const auto& item : yaml) node.items.push_back(convert(item, source));
  } else if (yaml.IsMap()) {
    node.kind = Node::Kind::map;
    for (const auto& entry : yaml) {
      node.keys.push_back(entry.first.Scalar());
      node.items.push_back(convert(entry.second, source));
      node.items.back().key_where = source.of(entry.first.Mark());
    }
  }
  return node;
}

/// As Go's strconv.ParseBool reads it.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"})
    if (text == word) return true;
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"})
    if (text == word) return false;
  return std::nullopt;
}

}  // namespace

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
    return wrong("'" + text + "' is no whole number", "write it with digits alone");
  return value;
}

Result<std::string> Node::string() const {
  if (!is_scalar()) return wrong("a text is expected here", "write one value, not a list or map");
  return text;
}

Result<std::vector<std::string>> Node::strings() const {
  if (is_scalar()) return std::vector<std::string>{text};
  if (!is_list()) return wrong("a text or a list of texts is expected here", "write [one, another]");
  std::vector<std::string> all;
  for (const Node& item : items) {
    SLIPWAY_TRY(one, item.string());
    all.push_back(one);
  }
  return all;
}

Node scalar(const std::string& text, const std::string& where) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.where = where;
  node.text = text;
  return node;
}

Result<Node> node_from_yaml(const std::string& text, const std::string& file, Position at) {
  const Source source{file, at};
  try {
    return convert(yaml::load(text), source);
  } catch (const YAML::Exception& problem) {
    return Error{.code = ErrorCode::invalid,
                 .what = "this " + yaml::problem_text(problem),
                 .where = source.of(problem.mark),
                 .next = "look at the line and those before it"};
  }
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
