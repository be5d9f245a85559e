// SPDX-License-Identifier: Apache-2.0
#include "driver/boot/loader_entries.hpp"

#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

#include "base/kernels/grub_menu.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kLoaderEntryLimit = 16U << 10;
constexpr std::size_t kMostLoaderEntries = 256;
constexpr std::size_t kLongestEntryName = 200;
constexpr std::string_view kLoaderDefault = "default";
constexpr std::string_view kOurComment =
    "# Written by slipway (component driver), until the newest kernel has modules of the driver.";

/// Names that can be written into loader.conf and grubenv as they are, and match only themselves.
bool is_plain_entry_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestEntryName && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+' || c == '~' || c == ':';
  });
}

/// "m-6.1.0" for "m-6.1.0+3-1": the counter changes with each boot.
std::string without_boot_counter(const std::string& name) {
  const auto plus = name.rfind('+');
  const bool counts = plus != std::string::npos && plus + 1 < name.size() &&
                      name.find_first_not_of("0123456789-", plus + 1) == std::string::npos;
  return counts ? name.substr(0, plus) : name;
}

bool is_setting(std::string_view line, std::string_view key) {
  const std::string_view text = trimmed(line);
  return text.starts_with(key) && text.size() > key.size() && (text[key.size()] == ' ' || text[key.size()] == '\t');
}

void add_entries(const Host& host, const std::string& folder, std::vector<LoaderEntry>& entries) {
  for (const auto& file : host.list(folder).value_or(std::vector<std::string>{})) {
    if (!file.ends_with(".conf") || entries.size() >= kMostLoaderEntries) continue;
    const std::string path = folder + "/" + file;
    const std::string text = host.read(path, kLoaderEntryLimit).value_or("");
    std::string release = base::release_of_image(loader_setting(text, "linux"));
    if (release.empty())
      release = loader_setting(text, "version");  // kernel-install's images have no release in their name
    const std::string id = without_boot_counter(file.substr(0, file.size() - std::string_view(".conf").size()));
    // Fedora's rescue entry starts an old copy of a kernel.
    if (release.empty() || !is_plain_entry_name(id) || id.ends_with("-rescue")) continue;
    const auto info = host.info(path);
    entries.push_back({id, std::move(release), info ? info->mode : 0});
  }
}

/// kernel-install writes MACHINE-RELEASE.efi.
void add_images(const Host& host, const std::string& folder, std::vector<LoaderEntry>& entries) {
  constexpr std::string_view kEnding = ".efi";
  for (const auto& file : host.list(folder).value_or(std::vector<std::string>{})) {
    if (!file.ends_with(kEnding) || entries.size() >= kMostLoaderEntries) continue;
    const std::string name = without_boot_counter(file.substr(0, file.size() - kEnding.size()));
    const auto dash = name.find('-');
    if (dash == std::string::npos || !is_plain_entry_name(name)) continue;
    const auto info = host.info(folder + "/" + file);
    entries.push_back({name + std::string(kEnding), name.substr(dash + 1), info ? info->mode : 0});
  }
}

}  // namespace

std::vector<LoaderEntry> read_loader_entries(const Host& host, const std::vector<std::string>& folders) {
  std::vector<LoaderEntry> entries;
  for (const auto& folder : folders) {
    add_entries(host, folder + "/loader/entries", entries);
    add_images(host, folder + "/EFI/Linux", entries);
  }
  return entries;
}

const LoaderEntry* entry_of_release(const std::vector<LoaderEntry>& entries, std::string_view release) {
  const auto found = std::ranges::find(entries, release, &LoaderEntry::release);
  return found == entries.end() ? nullptr : &*found;
}

std::string loader_setting(std::string_view text, std::string_view key) {
  std::string value;
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (is_setting(line, key)) value = trimmed(trimmed(line).substr(key.size()));
  return value;
}

std::string our_loader_default(std::string_view text) {
  std::string value;
  bool ours = false;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    if (ours && is_setting(line, kLoaderDefault)) value = trimmed(trimmed(line).substr(kLoaderDefault.size()));
    ours = trimmed(line) == kOurComment;
  }
  return value;
}

std::string loader_conf_without_ours(std::string_view text) {
  std::string rest;
  bool ours = false;
  for (const std::string_view line : lines_with_ends(text)) {
    const bool of_ours = ours && is_setting(line, kLoaderDefault);
    ours = trimmed(line) == kOurComment;
    if (!ours && !of_ours) rest += line;
  }
  return rest;
}

std::string loader_conf_with(std::string_view text, const std::string& entry) {
  std::string rest;
  const std::string clean = loader_conf_without_ours(text);
  for (const std::string_view line : lines_with_ends(clean))
    if (!is_setting(line, kLoaderDefault)) rest += line;
  if (!rest.empty() && !rest.ends_with('\n')) rest += '\n';
  return rest.append(kOurComment).append("\ndefault ").append(entry).append("\n");
}

}  // namespace slipway::driver
