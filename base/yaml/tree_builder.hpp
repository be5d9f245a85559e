// SPDX-License-Identifier: Apache-2.0
// base/yaml/tree_builder.hpp - builds the tree from yaml-cpp's events, which have positions and duplicate keys
// (yaml-cpp's own node builder silently drops the second one).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include "base/yaml/text.hpp"

namespace slipway::base {

/// Thrown by the builder to stop parsing from inside an event.
struct YamlStop {
  YamlComplaint complaint;
};

/// Collects documents. Borrows the lines.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const TextLines& lines) : lines_(lines) {}
  std::vector<YamlNode> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  /// A list or map being read.
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    bool flow = false;
    bool has_key = false;  ///< for a map: the next node is this key's value
    std::string key;
    Position key_position;
    std::map<std::string, Position> keys_seen;
  };

  [[noreturn]] void stop(Position position, std::string what, std::string next) const;
  Position position(const YAML::Mark& mark) const { return lines_.position(mark.line, mark.column); }
  YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) const;
  void check_tag(const YAML::Mark& mark, const std::string& tag) const;
  void check_closing_quote(const YAML::Mark& mark) const;
  void check_tabs(const YAML::Mark& mark);
  void count(const YamlNode& node, Position where);
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind, bool flow);
  void close();
  void add(YamlNode node, YAML::anchor_t anchor);
  void take_key(Frame& frame, const YamlNode& node);

  const TextLines& lines_;
  std::vector<YamlNode> documents_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  int last_line_ = -1;  ///< the line where the last node began
  std::size_t nodes_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace slipway::base
