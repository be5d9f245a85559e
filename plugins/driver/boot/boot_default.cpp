// SPDX-License-Identifier: Apache-2.0
#include "driver/boot/boot_default.hpp"

#include <slipway/text.hpp>

#include "base/kernels/grub_menu.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kGrubMenuLimit = 4U << 20;
constexpr const char* kGrubSettings = "/etc/default/grub.d";

/// Returns the menu's path to an entry that boots this kernel, by ids: "gnulinux-advanced-UUID>gnulinux-…".
std::string grub_path_of(const std::vector<base::GrubEntry>& entries, const std::string& release) {
  for (const base::GrubEntry& entry : entries) {
    if (!entry.is_submenu && entry.release == release && entry.id.find(release) != std::string::npos) return entry.id;
    if (!entry.is_submenu || entry.id.empty()) continue;
    if (const std::string inner = grub_path_of(entry.entries, release); !inner.empty()) return entry.id + ">" + inner;
  }
  return {};
}

/// Returns the last GRUB_DEFAULT of a file of shell assignments, as written.
std::string default_in(const Host& host, const std::string& file) {
  constexpr std::string_view kName = "GRUB_DEFAULT=";
  std::string value;
  for (const std::string& line : lines_of(host.read(file).value_or("")))
    if (const std::string_view text = trimmed(line); text.starts_with(kName)) value = text.substr(kName.size());
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  return value;
}

std::string administrators_choice(const Host& host) {
  std::vector<std::string> files{"/etc/default/grub"};
  for (const std::string& name : host.list(kGrubSettings).value_or(std::vector<std::string>{}))
    if (name.ends_with(".cfg")) files.push_back(std::string(kGrubSettings) + "/" + name);
  for (const std::string& file : files) {
    const std::string value = file == kGrubFile ? "" : default_in(host, file);
    if (!value.empty() && value != "0") return "GRUB_DEFAULT=" + value + " in " + file;
  }
  return {};
}

}  // namespace

BootDefault read_boot_default(const Host& host, const std::string& release) {
  BootDefault boot;
  boot.has_apt = host.exists("/etc/apt");
  boot.has_update_grub = host.exists("/usr/sbin/update-grub");
  if (const auto menu = host.read("/boot/grub/grub.cfg", kGrubMenuLimit))
    boot.entry = grub_path_of(base::parse_grub_menu(*menu).entries, release);
  boot.own_choice = administrators_choice(host);
  return boot;
}

}  // namespace slipway::driver
