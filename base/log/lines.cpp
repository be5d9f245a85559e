// SPDX-License-Identifier: Apache-2.0
#include "base/log/lines.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace slipway::base {
namespace {

using std::chrono::milliseconds;

/// Returns the length of the UTF-8 character at the start of the text; 0 when it is invalid.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (length == 1) return 1;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

/// True for C0, DEL, and C1, which some terminals obey although it is encoded as UTF-8; and for characters that end a
/// line or change the direction of reading in Unicode (U+2028 to U+202E, U+2066 to U+2069).
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  const unsigned char first = byte(0);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  if (character.size() == 3 && first == 0xE2)
    return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
           (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
  return character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

void append_escaped(std::string& text, std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte == '\n') {
      text += "\\n";
    } else if (byte == '\t') {
      text += "\\t";
    } else if (byte == '\r') {
      text += "\\r";
    } else {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      text += code.data();
    }
  }
}

std::string_view level_word(LogLevel level) {
  static constexpr std::array<std::string_view, 4> kWords{"error", "warning", "info", "debug"};
  return kWords[static_cast<std::size_t>(level)];
}

/// RFC 3339 in UTC, with milliseconds.
std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::floor<milliseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t seconds = whole.count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>((since - whole).count()));
  return std::string(text.data(), length) + fraction.data();
}

std::string in_front(const LogEvent& event) { return event.component.empty() ? "" : event.component + ": "; }

}  // namespace

std::string printable(std::string_view text, bool lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || (is_control(character) && !(lines && (character == "\n" || character == "\t"))))
      append_escaped(result, character);
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
}

std::string_view level_mark(LogLevel level) {
  if (level == LogLevel::error) return "error:";
  return level == LogLevel::warning ? "warning:" : "";
}

std::string text_line(const LogEvent& event) {
  if (!event.block.empty()) {
    std::string text = printable(event.block, true);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  const std::string_view mark = level_mark(event.level);
  return printable(in_front(event)) + std::string(mark) + (mark.empty() ? "" : " ") + printable(event.message);
}

std::string json_line(const LogEvent& event, std::chrono::system_clock::time_point time) {
  nlohmann::ordered_json line{{"time", utc_text(time)}, {"level", level_word(event.level)}};
  if (!event.component.empty()) line["component"] = event.component;
  if (!event.phase.empty()) line["phase"] = event.phase;
  if (event.generation) line["generation"] = *event.generation;
  line["message"] = event.message;
  if (!event.error.is_null()) line["error"] = event.error;
  return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

int syslog_priority(LogLevel level) {
  static constexpr std::array<int, 4> kNumbers{3, 4, 6, 7};  // LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG
  return kNumbers[static_cast<std::size_t>(level)];
}

std::string priority_line(const LogEvent& event) {
  return "<" + std::to_string(syslog_priority(event.level)) + ">" +
         printable(event.block.empty() ? in_front(event) + event.message
                                       : event.block.substr(0, event.block.find_last_not_of('\n') + 1));
}

}  // namespace slipway::base
