// SPDX-License-Identifier: Apache-2.0
#include "base/yaml/tree_builder.hpp"

#include <algorithm>
#include <utility>

namespace slipway::base {
namespace {

constexpr const char* kStringTag = "tag:yaml.org,2002:str";

/// Returns the position of the quote of a scalar that begins at `at`, perhaps with an anchor or tag; npos when it is
/// unquoted.
std::size_t opening_quote(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  return at < text.size() && (text[at] == '"' || text[at] == '\'') ? at : std::string_view::npos;
}

bool quote_is_closed(std::string_view text, std::size_t open) {
  const char quote = text[open];
  for (std::size_t at = open + 1; at < text.size(); ++at) {
    const bool escape = quote == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
    if (escape)
      ++at;
    else if (text[at] == quote)
      return true;
  }
  return false;
}

}  // namespace

void TreeBuilder::stop(Position position, std::string what, std::string next) const {
  throw YamlStop{{position, std::move(what), std::move(next)}};
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  anchors_.clear();
  const int last_line = std::exchange(last_line_, std::max(last_line_, mark.line));
  if (documents_.empty()) return;
  // yaml-cpp starts a new document where the old one cannot continue, and where no document can start (",") it starts
  // one after the other without end. YAML requires a line that starts a document.
  for (int line = last_line + 1; line <= mark.line; ++line) {
    const std::string_view text = lines_.line(static_cast<std::size_t>(line));
    if (text.starts_with("---") || text.starts_with("...")) return;
  }
  stop(position(mark), "this line does not belong to the lines above it",
       "check its indentation, and that the lines above are 'key: value'");
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  YamlNode node = node_at(mark, YamlNode::Kind::null);
  count(node, node.position);
  add(std::move(node), anchor);
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  last_line_ = std::max(last_line_, mark.line);
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end())
    stop(position(mark), "an alias (*name) is inside the value that it names", "write the value out");
  count(found->second, position(mark));
  add(found->second, 0);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& text) {
  check_tabs(mark);
  YamlNode node = node_at(mark, YamlNode::Kind::scalar);
  node.text = text;
  node.quoted = tag == "!" || tag == kStringTag;
  if (!node.quoted) check_tag(mark, tag);
  check_closing_quote(mark);
  count(node, node.position);
  add(std::move(node), anchor);
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value style) {
  open(mark, tag, anchor, YamlNode::Kind::list, style == YAML::EmitterStyle::Flow);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  open(mark, tag, anchor, YamlNode::Kind::map, style == YAML::EmitterStyle::Flow);
}

YamlNode TreeBuilder::node_at(const YAML::Mark& mark, YamlNode::Kind kind) const {
  YamlNode node;
  node.kind = kind;
  node.position = position(mark);
  return node;
}

void TreeBuilder::check_tag(const YAML::Mark& mark, const std::string& tag) const {
  if (!tag.empty() && tag != "?")
    stop(position(mark), "a tag (!…) is not supported here, except !!str", "remove the tag");
}

// yaml-cpp lets a quoted text without a closing quote extend to the end of the file.
void TreeBuilder::check_closing_quote(const YAML::Mark& mark) const {
  const std::size_t quote = opening_quote(lines_.text(), lines_.offset(mark.line, mark.column));
  if (quote != std::string_view::npos && !quote_is_closed(lines_.text(), quote))
    stop(lines_.position_of(quote), "the quote that opens here is never closed", "add the closing quote");
}

// White space inside brackets is free. Elsewhere a tab in the indentation is an error, even where yaml-cpp accepts it.
void TreeBuilder::check_tabs(const YAML::Mark& mark) {
  last_line_ = std::max(last_line_, mark.line);
  if (mark.line < 0 || (!frames_.empty() && frames_.back().flow)) return;
  const std::string_view indent = indentation(lines_.line(static_cast<std::size_t>(mark.line)));
  if (indent.size() <= static_cast<std::size_t>(std::max(mark.column, 0)) &&
      indent.find('\t') != std::string_view::npos)
    throw YamlStop{tab_complaint(lines_, mark.line)};
}

void TreeBuilder::count(const YamlNode& node, Position where) {
  ++nodes_;
  text_bytes_ += node.text.size();
  if (nodes_ > kYamlMaxNodes || text_bytes_ > kYamlMaxTextBytes)
    stop(where, "the file is too large once its aliases (*name) are written out", "use fewer aliases");
  for (const YamlNode& item : node.items) count(item, where);
  for (const YamlEntry& entry : node.entries) count(entry.value, where);
}

void TreeBuilder::open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind,
                       bool flow) {
  check_tag(mark, tag);
  check_tabs(mark);
  if (frames_.size() >= kYamlMaxDepth)
    stop(position(mark), "lists and maps are nested too deep", "a spec needs a few levels only");
  Frame frame;
  frame.node = node_at(mark, kind);
  frame.anchor = anchor;
  frame.flow = flow || (!frames_.empty() && frames_.back().flow);
  count(frame.node, frame.node.position);
  frames_.push_back(std::move(frame));
}

void TreeBuilder::close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  add(std::move(frame.node), frame.anchor);
}

void TreeBuilder::add(YamlNode node, YAML::anchor_t anchor) {
  if (anchor != 0) anchors_[anchor] = node;
  if (frames_.empty()) {
    documents_.push_back(std::move(node));
    return;
  }
  Frame& frame = frames_.back();
  if (frame.node.kind == YamlNode::Kind::list) {
    frame.node.items.push_back(std::move(node));
  } else if (!frame.has_key) {
    take_key(frame, node);
  } else {
    if (node.kind == YamlNode::Kind::null) node.position = frame.key_position;  // yaml-cpp marks the next token
    frame.node.entries.push_back({std::move(frame.key), frame.key_position, std::move(node)});
    frame.has_key = false;
  }
}

void TreeBuilder::take_key(Frame& frame, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::null) stop(node.position, "there is no key before the colon", "add the key");
  if (node.kind != YamlNode::Kind::scalar)
    stop(node.position, "expected a key, found a list or map", "write 'key: value'");
  if (node.text == "<<" && !node.quoted)
    stop(node.position, "merge keys (<<) are not part of YAML 1.2 and not supported", "write the keys out");
  const auto [first, is_new] = frame.keys_seen.emplace(node.text, node.position);
  if (!is_new)
    stop(node.position, "key '" + node.text + "' is given twice; first in line " + std::to_string(first->second.line),
         "keep one of the two");
  frame.key = node.text;
  frame.key_position = node.position;
  frame.has_key = true;
}

}  // namespace slipway::base
