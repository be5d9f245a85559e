// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

namespace slipway {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

template <class Part>
std::vector<Part> split(std::string_view text, char separator) {
  std::vector<Part> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

template std::vector<std::string> split<std::string>(std::string_view, char);
template std::vector<std::string_view> split<std::string_view>(std::string_view, char);

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t taken = width_of(text);
  return taken < width ? text.append(width - taken, ' ') : text;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {  // does not list all parts: there may be millions of empty ones
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view word = trimmed(text.substr(0, end)); !word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class Part>
std::vector<Part> lines_of(std::string_view text) {
  if (text.empty()) return {};
  if (text.ends_with('\n')) text.remove_suffix(1);
  return split<Part>(text, '\n');
}

template std::vector<std::string> lines_of<std::string>(std::string_view);
template std::vector<std::string_view> lines_of<std::string_view>(std::string_view);

std::vector<std::string_view> lines_with_ends(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    text += words[i];
  }
  return text;
}

std::string first_few(const std::vector<std::string>& words, std::size_t most) {
  if (words.size() <= most) return joined(words);
  return joined(std::vector<std::string_view>(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(most))) +
         " and " + std::to_string(words.size() - most) + " more";
}

}  // namespace slipway
