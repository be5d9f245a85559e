// SPDX-License-Identifier: Apache-2.0
#include "cli/render/page.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "base/log/lines.hpp"
#include "cli/render/marks.hpp"

namespace slipway::cli {
namespace {

std::string_view colour_of(char tone) {
  switch (static_cast<Tone>(tone)) {
    case Tone::good:
      return "\033[32m";
    case Tone::attention:
      return "\033[33m";
    case Tone::bad:
      return "\033[31m";
    case Tone::faint:
      return "\033[2m";
    case Tone::heading:
      return "\033[1m";
    case Tone::plain:
      break;
  }
  return "";
}

std::string coloured(const std::string& marked) {
  std::string text;
  bool open = false;
  for (std::size_t at = 0; at < marked.size(); ++at) {
    if (marked[at] == kToneMark && at + 1 < marked.size()) {
      const std::string_view begin = colour_of(marked[++at]);
      text += begin;
      open = !begin.empty();
    } else if (marked[at] == kToneEnd) {
      text += open ? "\033[0m" : "";
      open = false;
    } else {
      text += marked[at];
    }
  }
  return text;
}

}  // namespace

Page& Page::operator<<(std::string_view text) {
  marked_ += base::printable(text);
  return *this;
}

Page& Page::add_lines(std::string_view text) {
  marked_ += base::printable(text, true);
  return *this;
}

Page& Page::operator<<(const Toned& word) {
  if (word.tone == Tone::plain || word.text.empty()) return *this << word.text;
  marked_ += kToneMark;
  marked_ += static_cast<char>(word.tone);
  marked_ += base::printable(word.text);
  marked_ += kToneEnd;
  return *this;
}

Page& Page::operator<<(const Page& other) {
  marked_ += other.marked_;
  return *this;
}

Page& Page::table(const std::vector<TableRow>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width_of(base::printable(row[i].text)));
    }
  for (const TableRow& row : rows) {
    std::size_t column = indent;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) column += widths[i] + 2;
    marked_ += hanging_mark(column) + std::string(indent, ' ');
    std::size_t gap = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].text.empty()) {
        gap += i + 1 < row.size() ? widths[i] + 2 : 0;
        continue;
      }
      const std::string clean = base::printable(row[i].text);
      marked_.append(gap, ' ');
      *this << Toned{row[i].tone, clean};
      gap = i + 1 < row.size() ? widths[i] + 2 - width_of(clean) : 0;
    }
    marked_ += '\n';
  }
  return *this;
}

std::string Page::text(std::size_t columns, bool colour) const {
  const std::string broken = broken_lines(marked_, columns);
  return colour ? coloured(broken) : without_marks(broken);
}

}  // namespace slipway::cli
