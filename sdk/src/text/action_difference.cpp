// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include <slipway/action/difference.hpp>
#include <slipway/text.hpp>
#include <slipway/text/secret_name.hpp>

namespace slipway {
namespace {

constexpr std::size_t kLongestValue = 60;
constexpr std::size_t kMostKeys = 4;
constexpr unsigned kReadableByAll = 0004;

std::string cut(std::string text) {
  if (text.size() <= kLongestValue) return text;
  std::size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

std::string shown(const Json& value) { return value.is_discarded() ? "(not set)" : cut(canonical(value)); }

std::string change(const std::string& key, const Json& before, const Json& after) {
  return key + ": " + shown(before) + " -> " + shown(after);
}

bool is_private(const Json& action) {
  const auto mode = action.find("mode");
  return mode != action.end() && mode->is_number_unsigned() && (mode->get<unsigned>() & kReadableByAll) == 0;
}

/// Returns the first line in which two different texts differ.
std::string text_change(const std::string& key, const std::string& before, const std::string& after) {
  const auto olds = lines_with_ends(before);
  const auto news = lines_with_ends(after);
  std::size_t at = 0;
  while (at < olds.size() && at < news.size() && olds[at] == news[at]) ++at;
  const auto line = [&](const std::vector<std::string_view>& lines) {
    return at < lines.size() ? Json(lines[at]) : Json(Json::value_t::discarded);
  };
  return change(key + ", line " + std::to_string(at + 1), line(olds), line(news));
}

void compare(const std::string& key, const Json& before, const Json& after, std::vector<std::string>& changes) {
  if (before == after) return;
  if (is_secret_key(key)) {
    changes.push_back(key + ": not equal (a secret, which is not shown)");
    return;
  }
  if (before.is_object() && after.is_object()) {
    std::set<std::string> names;
    for (const Json* side : {&before, &after})
      for (const auto& [name, value] : side->items()) names.insert(name);
    const Json missing(Json::value_t::discarded);
    for (const std::string& name : names)
      compare(key.empty() ? name : key + "." + name, before.contains(name) ? before[name] : missing,
              after.contains(name) ? after[name] : missing, changes);
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      compare(key + "[" + std::to_string(i) + "]", before[i], after[i], changes);
    return;
  }
  const auto has_lines = [](const Json& value) {
    return value.is_string() && value.get_ref<const std::string&>().find('\n') != std::string::npos;
  };
  if (has_secret(before) || has_secret(after))
    changes.push_back(key + ": not equal (secrets in it, which are not shown)");
  else if (before.is_string() && after.is_string() && (has_lines(before) || has_lines(after)))
    changes.push_back(text_change(key, before.get<std::string>(), after.get<std::string>()));
  else
    changes.push_back(change(key, before, after));
}

}  // namespace

std::string action_difference(const Json& before, const Json& after) {
  Json one = before;
  Json other = after;
  std::vector<std::string> changes;
  if ((is_private(one) || is_private(other)) && one.value("content", "") != other.value("content", ""))
    changes.emplace_back("content: not equal (not shown, since only some users may read the file)");
  for (Json* side : {&one, &other})
    if (!changes.empty()) side->erase("content");
  compare("", one, other, changes);
  const std::size_t all = changes.size();
  if (all > kMostKeys) {
    changes.resize(kMostKeys);
    changes.push_back(std::to_string(all - kMostKeys) + " more");
  }
  return joined(changes, "; ");
}

}  // namespace slipway
