// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fnmatch.h>

#include <slipway/text.hpp>

#include "base/kernels/grub_menu.hpp"
#include "base/kernels/kernels.hpp"

namespace slipway::base {
namespace {

// The author of the root wrote these files, and a privileged command reads them.
constexpr std::size_t kMenuLimit = 1U << 20;
constexpr std::size_t kEntryLimit = 16U << 10;
constexpr std::size_t kMostEntries = 256;
constexpr std::size_t kLongestRelease = 128;
constexpr const char* kSystemdBootFolders[] = {"/boot/loader", "/efi/loader", "/boot/efi/loader"};
constexpr const char* kGrubFolders[] = {"/boot/grub", "/boot/grub2"};

/// Returns the first word of each line with the rest of it: loader.conf and the entries of systemd-boot.
std::map<std::string, std::string> settings_in(std::string_view text) {
  std::map<std::string, std::string> settings;
  for (const std::string_view whole : lines_of<std::string_view>(text)) {
    const std::string_view line = trimmed(whole);
    const auto blank = line.find_first_of(" \t");
    if (line.starts_with('#') || blank == std::string_view::npos) continue;
    settings[std::string{line.substr(0, blank)}] = trimmed(line.substr(blank));
  }
  return settings;
}

/// Reads grubenv: "NAME=value" lines.
std::string grub_variable(const Host& host, const std::string& folder, const std::string& name) {
  const std::string text = "\n" + host.read(folder + "/grubenv").value_or("");
  const auto at = text.find("\n" + name + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

struct Loaded {
  std::string name;  ///< name of the entry's file, without ".conf"
  std::string release;
};

/// Returns "m-6.1.0" for "m-6.1.0+3-1": the remaining and failed attempts are not part of the name (Boot Loader
/// Specification, boot counting).
std::string without_counter(const std::string& name) {
  const auto plus = name.rfind('+');
  const bool counts = plus != std::string::npos && plus + 1 < name.size() &&
                      name.find_first_not_of("0123456789-", plus + 1) == std::string::npos;
  return counts ? name.substr(0, plus) : name;
}

/// Returns the entries of systemd-boot, the newest kernel first, in the order of its menu.
std::vector<Loaded> systemd_entries(const Host& host, const std::string& folder) {
  std::vector<Loaded> entries;
  for (const auto& file : host.list(folder + "/entries").value_or(std::vector<std::string>{})) {
    if (!file.ends_with(".conf")) continue;
    if (entries.size() == kMostEntries) break;
    auto settings = settings_in(host.read(folder + "/entries/" + file, kEntryLimit).value_or(""));
    std::string release = release_of_image(settings["linux"]);
    // kernel-install names the folder after the release, and the image "linux".
    if (release.empty()) release = settings["version"];
    if (release.size() > kLongestRelease) release.clear();
    entries.push_back({without_counter(file.substr(0, file.size() - 5)), std::move(release)});
  }
  std::ranges::stable_sort(
      entries, [](const Loaded& a, const Loaded& b) { return kernel_key(b.release) < kernel_key(a.release); });
  return entries;
}

std::optional<NextBoot> by_systemd_boot(const Host& host) {
  for (const std::string folder : kSystemdBootFolders) {
    const std::string file = folder + "/loader.conf";
    const auto text = host.read(file);
    if (!text) continue;
    const std::string wanted = settings_in(*text)["default"];
    if (wanted.starts_with('@'))
      return NextBoot{{}, file + " has the default " + wanted + ", whose value only the firmware has"};
    for (const auto& entry : systemd_entries(host, folder)) {
      const bool matches = wanted.empty() || fnmatch(wanted.c_str(), entry.name.c_str(), 0) == 0 ||
                           fnmatch(wanted.c_str(), (entry.name + ".conf").c_str(), 0) == 0;
      if (matches && !entry.release.empty()) return NextBoot{entry.release, "the default of " + file};
      if (matches) return NextBoot{{}, "the entry " + entry.name + " names no kernel release"};
    }
    return NextBoot{{},
                    file + (wanted.empty() ? " names no default, and no entry is a file in " + folder
                                           : " names a default that has no entry in the boot menu")};
  }
  return std::nullopt;
}

NextBoot by_grub_menu(const Host& host, const std::string& folder, const GrubMenu& menu) {
  const std::string file = folder + "/grub.cfg";
  std::string wanted = menu.fallback.empty() ? "0" : menu.fallback;
  std::string how = "the default of " + file;
  for (const auto& [takes, name] :
       {std::pair{menu.takes_saved, "saved_entry"}, std::pair{menu.takes_next_once, "next_entry"}}) {
    const std::string value = takes ? grub_variable(host, folder, name) : std::string{};
    if (value.empty()) continue;
    wanted = value;
    how = std::string(name) + " of " + folder + "/grubenv";
  }
  const auto entry = grub_entry(menu, wanted);
  if (entry && !entry->release.empty()) return {entry->release, how};
  return {{}, how + " is '" + wanted + "', and its menu has no such entry with a kernel release"};
}

std::optional<NextBoot> by_grub(const Host& host) {
  for (const std::string folder : kGrubFolders) {
    const auto text = host.read(folder + "/grub.cfg", kMenuLimit);
    if (!text) continue;
    const GrubMenu menu = parse_grub_menu(*text);
    if (menu.has_foreign) return NextBoot{{}, folder + "/grub.cfg takes its entries from elsewhere (blscfg)"};
    if (menu.entries.empty())
      continue;  // on the EFI partition, grub.cfg only names another file; an unfinished image has no entries yet
    return by_grub_menu(host, folder, menu);
  }
  return std::nullopt;
}

/// A file that this user may not read may name another kernel than a link or the newest kernel.
std::optional<NextBoot> hidden(const Host& host) {
  std::vector<std::string> files;
  for (const std::string folder : kSystemdBootFolders) files.push_back(folder + "/loader.conf");
  for (const std::string folder : kGrubFolders) files.push_back(folder + "/grub.cfg");
  for (const auto& file : files)
    if (const auto text = host.read(file, kMenuLimit); !text && text.error().code == ErrorCode::denied)
      return NextBoot{{}, "only root may read " + file};
  return std::nullopt;
}

std::optional<NextBoot> by_link(const Host& host) {
  for (const char* link : {"/vmlinuz", "/boot/vmlinuz"})
    if (const auto target = host.read_link(link))
      if (std::string release = release_of_image(*target); !release.empty())
        return NextBoot{std::move(release), std::string("the link ") + link};
  return std::nullopt;
}

}  // namespace

NextBoot next_boot(const Host& host) {
  if (auto told = by_systemd_boot(host)) return *told;
  if (auto told = by_grub(host)) return *told;
  if (auto unknown = hidden(host)) return *unknown;
  if (auto told = by_link(host)) return *told;
  auto kernels = host.installed_kernels();
  if (kernels.empty()) return {{}, "there is no kernel in /lib/modules"};
  sort_newest_first(kernels);
  return {kernels.front(), "the newest, since no boot loader's files name another"};
}

}  // namespace slipway::base
