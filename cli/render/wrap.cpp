// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "cli/render/marks.hpp"
#include "cli/render/page.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kHanging = 4;  // relative to the text after a mark: "  + create …"
constexpr std::size_t kDeepestIndent = 12;
constexpr std::size_t kFarthestColumn = 88;  // the largest column that a mark can encode

constexpr std::size_t kLongestCommand = 4096;   // in backquotes, in bytes: texts may have commands of any length
constexpr std::size_t kMostBytesOfAColumn = 7;  // per column: a UTF-8 character and marks around it

/// Stops when the command is too long: the author of a text may have made it of any length.
bool fits_in(std::string_view marked, std::size_t columns) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < marked.size() && width <= columns; ++at)
    if (marked[at] == kToneMark || marked[at] == kHangingMark)
      ++at;
    else if (marked[at] != kToneEnd && (static_cast<unsigned char>(marked[at]) & 0xC0U) != 0x80)
      ++width;
  return width <= columns;
}

/// Returns the end of the word that begins at `from`. A command in backquotes is one word of any length: a broken
/// command could not be copied.
std::size_t end_of_word(const std::string& line, std::size_t from) {
  const std::string_view rest = std::string_view(line).substr(from, kLongestCommand);
  bool in_command = false;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '`') in_command = !in_command;
    if (rest[at] == ' ' && !in_command) return from + at;
  }
  const bool is_all = !in_command && from + rest.size() == line.size();
  return is_all ? line.size() : std::min(line.find(' ', from), line.size());
}

/// Returns the part of a word that fits on this line: up to its last slash that fits, else its last dot.
std::size_t fitting_part(std::string_view word, std::size_t room) {
  for (const char at : {'/', '.'}) {
    const std::size_t found = word.substr(0, room).rfind(at);
    if (found != std::string_view::npos && found != 0) return found + 1;
  }
  return 0;
}

/// Breaks one line into several.
class Breaker {
 public:
  /// @param hanging  the column of continuation lines; 0: after its own indent
  Breaker(const std::string& line, std::size_t columns, std::size_t hanging)
      : line_(line),
        columns_(columns),
        lead_(std::min(line.find_first_not_of(' '), line.size())),
        indent_(hanging > 0 && hanging <= columns / 2 ? hanging : std::min(lead_ + kHanging, kDeepestIndent), ' '),
        current_(line, 0, lead_) {}

  std::string run() {
    std::size_t gap = 0;  // the spaces before the word
    for (std::size_t at = lead_; at < line_.size();) {
      const std::size_t end = end_of_word(line_, at);
      const std::string word = line_.substr(at, end - at);
      const bool reason = word.size() <= kMostBytesOfAColumn && without_marks(word) == "#" &&
                          !fits(gap, std::string_view(line_).substr(at));
      if (gap > 0 && (reason || !fits(gap, word))) {
        next_line();
        gap = 0;
      }
      add(gap, word);
      at = std::min(line_.find_first_not_of(' ', end), line_.size());
      gap = at - end;
    }
    return text_ + current_;
  }

 private:
  bool fits(std::size_t gap, std::string_view word) const {
    const std::size_t filled = shown_width(current_) + gap;
    return filled <= columns_ && fits_in(word, columns_ - filled);
  }
  void next_line() {
    text_ += current_ + "\n";
    current_ = indent_;
  }
  void add(std::size_t gap, std::string_view word) {
    current_.append(gap, ' ');
    while (!fits(0, word) && word.find('`') == std::string_view::npos) {
      const std::size_t part = fitting_part(word, columns_ - std::min(columns_, shown_width(current_)));
      if (part == 0) break;
      current_ += word.substr(0, part);
      word.remove_prefix(part);
      next_line();
    }
    current_ += word;
  }

  const std::string& line_;
  std::size_t columns_;
  std::size_t lead_;
  std::string indent_;
  std::string current_;
  std::string text_;
};

}  // namespace

std::size_t columns_of(int descriptor) {
  if (const char* const named = std::getenv("SLIPWAY_COLUMNS")) {
    const std::string_view text(named);
    std::size_t columns = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && columns >= kNarrowest) return columns;
  }
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col >= kNarrowest ? size.ws_col : 0;
}

std::string hanging_mark(std::size_t column) {
  return {kHangingMark, static_cast<char>(std::min(column, kFarthestColumn) + ' ')};
}

std::string without_marks(std::string_view marked) {
  std::string text;
  for (std::size_t at = 0; at < marked.size(); ++at)
    if (marked[at] == kToneMark || marked[at] == kHangingMark)
      ++at;
    else if (marked[at] != kToneEnd)
      text += marked[at];
  return text;
}

std::size_t shown_width(std::string_view marked) { return width_of(without_marks(marked)); }

std::string broken_lines(const std::string& marked, std::size_t columns) {
  std::string result;
  for (std::size_t at = 0; at < marked.size();) {
    const std::size_t end = std::min(marked.find('\n', at), marked.size());
    std::size_t hanging = 0;
    if (marked[at] == kHangingMark && at + 1 < end) {
      hanging = static_cast<std::size_t>(marked[at + 1] - ' ');
      at += 2;
    }
    const std::string line = marked.substr(at, end - at);
    result += columns == 0 || fits_in(line, columns) ? line : Breaker(line, columns, hanging).run();
    if (end < marked.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

std::string wrapped(const std::string& text, std::size_t columns) { return Page(text).text(columns, false); }

std::string mebibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string cut_at_word(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t before = text.rfind(' ', most);
  std::size_t end = before != std::string::npos ? before : text.find(' ');
  if (end == std::string::npos) return text;
  if (std::ranges::count(std::string_view(text).substr(0, end), '`') % 2 != 0) {  // inside a command
    const std::size_t open = text.rfind('`', end);
    const std::size_t close = text.find('`', end);
    if (close == std::string::npos) return text.substr(0, end) + " …";
    const bool is_short = close - open <= kLongestCommand;
    end = is_short ? std::min(text.find(' ', close), text.size()) : std::min(text.rfind(' ', open), open);
  }
  return end == text.size() ? text : text.substr(0, end) + " …";
}

}  // namespace slipway::cli
