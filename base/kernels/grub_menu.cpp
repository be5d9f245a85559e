// SPDX-License-Identifier: Apache-2.0
#include "base/kernels/grub_menu.hpp"

#include <algorithm>
#include <charconv>

#include <slipway/text.hpp>

namespace slipway::base {
namespace {

constexpr std::size_t kDeepest = 16;  // grub-mkconfig nests one submenu

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

/// Reads `menuentry TITLE … ID {`: the id comes after $menuentry_id_option, or --id.
GrubEntry entry_of(const std::vector<std::string>& words) {
  GrubEntry entry;
  entry.is_submenu = words.front() == "submenu";
  if (words.size() > 1) entry.title = words[1];
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "$menuentry_id_option" || words[i] == "--id") entry.id = words[i + 1];
  return entry;
}

/// Reads line by line. Counts only the braces of entries and submenus: the functions at the start of grub-mkconfig's
/// output have no `linux` line.
class GrubReader {
 public:
  explicit GrubReader(GrubMenu& menu) : menu_(menu) {}

  void line(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty() || words.front().starts_with('#')) return;
    const std::string& first = words.front();
    if ((first == "menuentry" || first == "submenu") && words.back() == "{" && open_.size() < kDeepest)
      open_.push_back(entry_of(words));
    else if (first == "}" && !open_.empty())
      close();
    else if (!open_.empty() && (first.starts_with("linux") || first == "kernel") && words.size() > 1)
      open_.back().release = release_of_image(words[1]);
    else if (first == "blscfg" || first == "configfile" || first == "source")
      menu_.has_foreign = menu_.has_foreign || first == "blscfg";
    else if (first == "set" && words.size() > 1 && words[1].starts_with("default="))
      take_default(words[1].substr(sizeof("default=") - 1));
  }

 private:
  void close() {
    GrubEntry entry = std::move(open_.back());
    open_.pop_back();
    (open_.empty() ? menu_.entries : open_.back().entries).push_back(std::move(entry));
  }
  void take_default(const std::string& value) {
    if (value == "${next_entry}")
      menu_.takes_next_once = true;
    else if (value == "${saved_entry}")
      menu_.takes_saved = true;
    else if (value.find('$') == std::string::npos)
      menu_.fallback = value;
  }

  GrubMenu& menu_;
  std::vector<GrubEntry> open_;
};

const GrubEntry* find_entry(const std::vector<GrubEntry>& entries, std::string_view name) {
  std::size_t index = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (problem == std::errc{} && end == name.data() + name.size())
    return index < entries.size() ? &entries[index] : nullptr;
  const auto found =
      std::ranges::find_if(entries, [&](const auto& one) { return one.title == name || one.id == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::string release_of_image(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view prefix : {"vmlinuz-", "vmlinux-", "Image-", "kernel-"})
    if (name.starts_with(prefix)) return std::string{name.substr(prefix.size())};
  return {};
}

GrubMenu parse_grub_menu(std::string_view grub_cfg) {
  GrubMenu menu;
  GrubReader reader(menu);
  for (const std::string_view line : lines_of<std::string_view>(grub_cfg)) reader.line(line);
  return menu;
}

std::optional<GrubEntry> grub_entry(const GrubMenu& menu, std::string_view name) {
  const std::vector<GrubEntry>* level = &menu.entries;
  while (true) {
    const auto end = name.find('>');
    const GrubEntry* entry = find_entry(*level, name.substr(0, end));
    if (entry == nullptr) return std::nullopt;
    if (!entry->is_submenu) return *entry;
    name = end == std::string_view::npos ? std::string_view{"0"} : name.substr(end + 1);  // "0": the first entry
    level = &entry->entries;
  }
}

}  // namespace slipway::base
