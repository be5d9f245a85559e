// SPDX-License-Identifier: Apache-2.0
#include "base/merge/yaml_scan.hpp"

#include <algorithm>

namespace slipway::merge {
namespace {

constexpr std::size_t kMostLines = 10000;

bool blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::size_t YamlScan::line_begin(std::size_t at) const {
  const std::size_t newline = at == 0 ? kNowhere : bytes_.rfind('\n', at - 1);
  return newline == kNowhere ? 0 : newline + 1;
}

std::size_t YamlScan::line_stop(std::size_t at) const {
  const std::size_t newline = std::min(bytes_.find('\n', at), bytes_.size());
  return newline > at && bytes_[newline - 1] == '\r' ? newline - 1 : newline;
}

std::size_t YamlScan::next_line(std::size_t at) const {
  const std::size_t newline = bytes_.find('\n', at);
  return newline == kNowhere ? bytes_.size() : newline + 1;
}

std::size_t YamlScan::skip_spaces(std::size_t at) const {
  while (at < bytes_.size() && blank(bytes_[at])) ++at;
  return at;
}

bool YamlScan::rest_is_empty(std::size_t at) const {
  const std::size_t next = skip_spaces(at);
  return next >= line_stop(at) || (bytes_[next] == '#' && (next == 0 || next > at || blank(bytes_[next - 1])));
}

std::size_t YamlScan::trimmed(std::size_t begin, std::size_t end) const {
  while (end > begin && blank(bytes_[end - 1])) --end;
  return end;
}

std::size_t YamlScan::quoted_end(std::size_t at) const {
  const char quote = bytes_[at];
  for (++at; at < bytes_.size(); ++at) {
    if (quote == '"' && bytes_[at] == '\\') {
      ++at;
    } else if (bytes_[at] == quote) {
      if (quote == '"' || bytes_.compare(at, 2, "''") != 0) return at + 1;
      ++at;
    }
  }
  return kNowhere;
}

/// Returns the end of a plain scalar's text on its first line.
std::size_t YamlScan::plain_stop(std::size_t begin, bool flow) const {
  const std::size_t stop = line_stop(begin);
  for (std::size_t at = begin; at < stop; ++at) {
    const char c = bytes_[at];
    if (flow && (c == ',' || c == ']' || c == '}' || c == '[' || c == '{')) return trimmed(begin, at);
    if (c == '#' && at > begin && blank(bytes_[at - 1])) return trimmed(begin, at);
    const bool ends_key =
        at + 1 >= stop || blank(bytes_[at + 1]) || (flow && std::string(",]}[{").find(bytes_[at + 1]) != kNowhere);
    if (c == ':' && ends_key) return trimmed(begin, at);
  }
  return trimmed(begin, stop);
}

std::size_t YamlScan::key_end(std::size_t at, bool flow) const {
  if (at >= bytes_.size()) return kNowhere;
  const bool quoted = bytes_[at] == '"' || bytes_[at] == '\'';
  const std::size_t end = quoted ? quoted_end(at) : plain_stop(at, flow);
  if (end == kNowhere) return kNowhere;
  const std::size_t colon = skip_spaces(end);
  return colon < bytes_.size() && bytes_[colon] == ':' ? end : kNowhere;
}

std::size_t YamlScan::plain_end(std::size_t at, const std::string& text, bool flow) const {
  std::size_t end = plain_stop(at, flow);
  std::string folded = bytes_.substr(at, end - at);
  std::size_t line = end;
  for (std::size_t i = 0; i < kMostLines && folded != text; ++i) {
    if (folded.size() > text.size() || next_line(line) >= bytes_.size()) return kNowhere;
    std::size_t empty = 0;
    line = next_line(line);
    while (line < bytes_.size() && skip_spaces(line) >= line_stop(line)) {
      ++empty;
      line = next_line(line);
    }
    const std::size_t begin = skip_spaces(line);
    if (begin >= bytes_.size()) return kNowhere;
    end = plain_stop(begin, flow);
    folded += empty == 0 ? std::string(" ") : std::string(empty, '\n');
    folded.append(bytes_, begin, end - begin);
  }
  return folded == text ? end : kNowhere;
}

std::size_t YamlScan::flow_end(std::size_t at) const {
  std::size_t depth = 0;
  bool scalar_may_begin = true;  // a quote inside a plain scalar is an ordinary character
  while (at < bytes_.size()) {
    const char c = bytes_[at];
    if ((c == '"' || c == '\'') && scalar_may_begin) {
      at = quoted_end(at);
      if (at == kNowhere) return kNowhere;
      scalar_may_begin = false;
      continue;
    }
    if (c == '#' && at > 0 && (blank(bytes_[at - 1]) || bytes_[at - 1] == '\n')) {
      at = next_line(at);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) return at + 1;
    if (c == '[' || c == '{' || c == ',' || c == ':')
      scalar_may_begin = true;
    else if (!blank(c) && c != '\n' && c != '\r')
      scalar_may_begin = false;
    ++at;
  }
  return kNowhere;
}

std::size_t YamlScan::block_end(std::size_t at, std::size_t indent) const {
  std::size_t end = trimmed(at, line_stop(at));
  for (std::size_t line = next_line(at); line < bytes_.size(); line = next_line(line)) {
    const std::size_t text = skip_spaces(line);
    const std::size_t stop = line_stop(line);
    if (text >= stop) continue;
    const bool deeper = text - line > indent;
    const bool item = text - line == indent && bytes_[text] == '-' && (text + 1 >= stop || blank(bytes_[text + 1]));
    if (!deeper && bytes_[text] == '#') continue;  // a comment never ends a block
    if (!deeper && !(item && bytes_[at] == '-')) break;
    end = trimmed(line, stop);
  }
  return end;
}

}  // namespace slipway::merge
