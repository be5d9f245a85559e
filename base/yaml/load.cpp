// SPDX-License-Identifier: Apache-2.0
#include "base/yaml/load.hpp"

#include <limits>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include <yaml-cpp/eventhandler.h>

namespace slipway::yaml {
namespace {

/// Thrown when a limit is exceeded.
class TooMuch final : public YAML::Exception {
 public:
  using YAML::Exception::Exception;
};

struct Size {
  std::size_t values = 0;
  std::size_t scalars = 0;
};

/// Counts the values of a walk over the document. Sizes stay below twice a limit, so that no sum overflows.
class Counter final : public YAML::EventHandler {
 public:
  explicit Counter(const Limits& limits) : limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override { last_document_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, {1, 0}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& text) override {
    add(mark, {1, text.size()}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) throw YAML::Exception(mark, "an alias (*name) is inside the value that it names");
    add(mark, named->second, YAML::NullAnchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor);
  }
  void OnMapEnd() override { close(); }

  const YAML::Mark& last_document() const { return last_document_; }

 private:
  struct Frame {
    YAML::anchor_t anchor;
    Size before;
  };

  void add(const YAML::Mark& mark, Size size, YAML::anchor_t anchor) {
    total_.values += size.values;
    total_.scalars += size.scalars;
    if (total_.values > limits_.values || total_.scalars > limits_.scalars)
      throw TooMuch(mark, "with each alias (*name) written out it has more than " + std::to_string(limits_.values) +
                              " values, or more than " + std::to_string(limits_.scalars >> 20U) + " MiB of text");
    if (anchor != YAML::NullAnchor) anchors_[anchor] = size;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (frames_.size() >= limits_.depth)
      throw TooMuch(mark, "its lists and maps are nested deeper than " + std::to_string(limits_.depth) + " levels");
    frames_.push_back({anchor, total_});
    add(mark, {1, 0}, YAML::NullAnchor);
  }
  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.anchor != YAML::NullAnchor)
      anchors_[frame.anchor] = {total_.values - frame.before.values, total_.scalars - frame.before.scalars};
  }

  const Limits& limits_;
  YAML::Mark last_document_;
  Size total_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Size> anchors_;
};

constexpr auto kAny = std::numeric_limits<std::size_t>::max();
constexpr Limits kNoLimits{.bytes = kAny, .values = kAny, .scalars = kAny, .depth = kAny};

/// Returns the text without final lines that have no content: empty ones, comments, --- and ....
std::string_view without_last_marks(std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return {};
    const std::size_t begin = text.rfind('\n', end) + 1;
    const std::string_view line = text.substr(begin, end + 1 - begin);
    const std::size_t first = line.find_first_not_of(" \t");
    if (line != "---" && line != "..." && line[first] != '#') return text.substr(0, end + 1);
    text = text.substr(0, begin);
  }
}

}  // namespace

YAML::Node load(const std::string& text, const Limits& limits) {
  if (text.size() > limits.bytes)
    throw TooMuch(YAML::Mark::null_mark(), "it is larger than " + std::to_string(limits.bytes >> 10U) + " KiB");
  Counter counter(limits);
  std::istringstream stream(text);
  YAML::Parser(stream).HandleNextDocument(counter);
  return YAML::Load(text);
}

int count_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Counter ignore(kNoLimits);
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(ignore)) ++count;
  return count;
}

std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(std::string(without_last_marks(text)));
  YAML::Parser parser(stream);
  Counter ignore(kNoLimits);
  if (!parser.HandleNextDocument(ignore) || !parser.HandleNextDocument(ignore)) return std::nullopt;
  return ignore.last_document();
}

std::string problem_text(const YAML::Exception& problem) {
  const bool too_much = dynamic_cast<const TooMuch*>(&problem) != nullptr;
  return (too_much ? "is not read: " : "is not YAML: ") + problem.msg;
}

std::string place(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return file;
  return file + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

}  // namespace slipway::yaml
