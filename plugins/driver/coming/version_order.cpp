// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/version_order.hpp"

#include <algorithm>
#include <cctype>

namespace slipway::driver {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

int sign(int value) { return value < 0 ? -1 : (value > 0 ? 1 : 0); }

/// Removes the leading characters of a kind, and returns them.
template <class Is>
std::string_view cut(std::string_view& text, const Is& is) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end);
  return part;
}

/// Compares numbers of any length.
int compare_numbers(std::string_view one, std::string_view other) {
  one.remove_prefix(std::min(one.find_first_not_of('0'), one.size()));
  other.remove_prefix(std::min(other.find_first_not_of('0'), other.size()));
  if (one.size() != other.size()) return one.size() < other.size() ? -1 : 1;
  return sign(one.compare(other));
}

/// '~' sorts before the end of a part, letters before everything else.
int deb_weight(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const char c = text[at];
  if (c == '~') return -1;
  return is_letter(c) ? c : static_cast<unsigned char>(c) + 256;
}

int compare_deb_parts(std::string_view one, std::string_view other) {
  while (!one.empty() || !other.empty()) {
    const auto text = cut(one, [](char c) { return !is_decimal(c); });
    const auto other_text = cut(other, [](char c) { return !is_decimal(c); });
    for (std::size_t i = 0; i < std::max(text.size(), other_text.size()); ++i)
      if (const int order = deb_weight(text, i) - deb_weight(other_text, i); order != 0) return sign(order);
    if (const int order = compare_numbers(cut(one, is_decimal), cut(other, is_decimal)); order != 0) return order;
  }
  return 0;
}

std::string_view cut_epoch(std::string_view& version) {
  const auto colon = version.find(':');
  if (colon == std::string_view::npos) return "0";
  const std::string_view epoch = version.substr(0, colon);
  version.remove_prefix(colon + 1);
  return epoch;
}

std::string_view cut_revision(std::string_view& version) {
  const auto dash = version.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view revision = version.substr(dash + 1);
  version = version.substr(0, dash);
  return revision;
}

}  // namespace

int compare_deb_versions(std::string_view one, std::string_view other) {
  if (const int order = compare_numbers(cut_epoch(one), cut_epoch(other)); order != 0) return order;
  const std::string_view revision = cut_revision(one);
  const std::string_view other_revision = cut_revision(other);
  if (const int order = compare_deb_parts(one, other); order != 0) return order;
  return compare_deb_parts(revision, other_revision);
}

int compare_rpm_versions(std::string_view one, std::string_view other) {
  const auto separates = [](char c) { return !is_decimal(c) && !is_letter(c) && c != '~' && c != '^'; };
  while (true) {
    cut(one, separates);
    cut(other, separates);
    const bool before = one.starts_with('~');
    if (before != other.starts_with('~')) return before ? -1 : 1;
    const bool after = one.starts_with('^');
    if (after != other.starts_with('^')) {  // newer than the version that ends there, older than one that goes on
      if (one.empty() || other.empty()) return one.empty() ? -1 : 1;
      return after ? -1 : 1;
    }
    if (before || after) {
      one.remove_prefix(1);
      other.remove_prefix(1);
      continue;
    }
    if (one.empty() || other.empty()) return one.empty() == other.empty() ? 0 : (one.empty() ? -1 : 1);
    const bool number = is_decimal(one.front());
    if (number != is_decimal(other.front())) return number ? 1 : -1;
    const int order = number ? compare_numbers(cut(one, is_decimal), cut(other, is_decimal))
                             : sign(cut(one, is_letter).compare(cut(other, is_letter)));
    if (order != 0) return order;
  }
}

}  // namespace slipway::driver
