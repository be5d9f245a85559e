// SPDX-License-Identifier: Apache-2.0
#include "driver/boot/boot_default.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <slipway/text.hpp>

#include "base/kernels/grub_menu.hpp"
#include "driver/boot/loader_entries.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kGrubMenuLimit = 4U << 20;
constexpr const char* kGrubSettings = "/etc/default/grub.d";

/// True when a shell takes the id as one plain word: update-grub reads the default as a line of a shell, and os-prober
/// makes ids from what another system on the disk says.
bool is_plain_id(const std::string& id) {
  return !id.empty() && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+~:/-").find(c) != std::string_view::npos;
  });
}

/// Returns the menu's path to an entry that boots this kernel, by ids: "gnulinux-advanced-UUID>gnulinux-…".
std::string grub_path_of(const std::vector<base::GrubEntry>& entries, const std::string& release) {
  for (const base::GrubEntry& entry : entries) {
    if (!is_plain_id(entry.id)) continue;
    if (!entry.is_submenu && entry.release == release && entry.id.find(release) != std::string::npos) return entry.id;
    if (!entry.is_submenu) continue;
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

std::string grubenv_value(const Host& host, const std::string& file, std::string_view name) {
  std::string value;
  for (const std::string& line : lines_of(host.read(file).value_or("")))
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == '=')
      value = line.substr(name.size() + 1);
  return value;
}

bool is_without(const std::vector<LoaderEntry>& entries, const std::string& id,
                const std::vector<std::string>& without) {
  const auto entry = std::ranges::find(entries, id, &LoaderEntry::id);
  return entry != entries.end() && std::ranges::count(without, entry->release) != 0;
}

/// "0123456789abcdef0123456789abcdef-*": written by bootctl of systemd before 245, and means the newest kernel.
bool is_any_kernel(std::string_view pattern) {
  constexpr std::size_t kMachineId = 32;
  return pattern.size() == kMachineId + 2 && pattern.ends_with("-*") &&
         pattern.find_first_not_of("0123456789abcdef") == kMachineId;
}

/// True when this EFI system partition has systemd-boot.
bool has_systemd_boot(const Host& host, const std::string& partition) {
  return std::ranges::any_of(
      std::array{"/loader/loader.conf", "/EFI/systemd/systemd-bootx64.efi", "/EFI/systemd/systemd-bootaa64.efi"},
      [&](const char* file) { return host.exists(partition + file); });
}

bool read_systemd_boot(const Host& host, const std::string& release, const std::string& kept_entry, BootDefault& boot) {
  constexpr const char* kVariable = "/sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
  constexpr unsigned kUsualMode = 0644;
  for (const std::string partition : {"/efi", "/boot/efi", "/boot"}) {
    if (!has_systemd_boot(host, partition)) continue;
    std::vector<std::string> folders{partition};
    if (partition != "/boot") folders.emplace_back("/boot");
    const auto entries = read_loader_entries(host, folders);
    const LoaderEntry* const entry = entry_of_release(entries, release);
    if (entry == nullptr) continue;
    boot.loader = "systemd-boot";
    boot.file = partition + "/loader/loader.conf";
    const auto text = host.read(boot.file);
    if (!text && text.error().code != ErrorCode::not_found) return true;
    boot.entry = entry->id.ends_with(".efi") ? entry->id : entry->id + ".conf";
    boot.text = loader_conf_with(text.value_or(""), boot.entry);
    // The partition is FAT, which has the same permissions for each of its files.
    const auto info = host.info(boot.file);
    boot.mode = info ? info->mode : (entry->mode != 0 ? entry->mode : kUsualMode);
    // The administrator may have changed the line that slipway wrote.
    const std::string ours = our_loader_default(text.value_or(""));
    const bool is_ours = ours.empty() || ours == kept_entry || ours == boot.entry;
    const std::string chosen = is_ours ? loader_setting(loader_conf_without_ours(text.value_or("")), "default") : ours;
    if (host.exists(kVariable))
      boot.own_choice = "LoaderEntryDefault in the firmware's variables (`bootctl set-default`)";
    else if (!chosen.empty() && !is_any_kernel(chosen))
      boot.own_choice = "default " + chosen + " in " + boot.file;
    return true;
  }
  return false;
}

/// GRUB of Fedora and Enterprise Linux: the package of a new kernel writes its entry to saved_entry.
bool read_grub_bls(const Host& host, const std::string& release, const std::vector<std::string>& without,
                   const std::string& kept_entry, BootDefault& boot) {
  const auto entries = read_loader_entries(host, {"/boot"});
  const LoaderEntry* const entry = entry_of_release(entries, release);
  for (const std::string folder : {"/boot/grub2", "/boot/grub"}) {
    if (entry == nullptr || !host.exists(folder + "/grubenv")) continue;
    boot.loader = "grub-bls";
    boot.file = folder + "/grubenv";
    boot.entry = entry->id;
    for (const char* program : {"grub2-editenv", "grub-editenv"})
      if (boot.program.empty() && host.exists(std::string("/usr/bin/") + program)) boot.program = program;
    boot.saved = grubenv_value(host, boot.file, "saved_entry");
    const std::string configured = default_in(host, "/etc/default/grub");
    const bool may_change = boot.saved.empty() || boot.saved == kept_entry || is_without(entries, boot.saved, without);
    if (!configured.empty() && configured != "saved" && configured != "0")
      boot.own_choice = "GRUB_DEFAULT=" + configured + " in /etc/default/grub";
    else if (!may_change)
      boot.own_choice = "saved_entry=" + boot.saved + " in " + boot.file;
    return true;
  }
  return false;
}

}  // namespace

BootDefault read_boot_default(const Host& host, const std::string& release, const std::vector<std::string>& without,
                              const std::string& kept_entry) {
  BootDefault boot;
  boot.has_apt = host.exists("/etc/apt");
  boot.has_dnf = host.exists("/etc/dnf");
  if (read_systemd_boot(host, release, kept_entry, boot)) return boot;
  if (const auto menu = host.read("/boot/grub/grub.cfg", kGrubMenuLimit))
    boot.entry = grub_path_of(base::parse_grub_menu(*menu).entries, release);
  if (boot.entry.empty() && read_grub_bls(host, release, without, kept_entry, boot)) return boot;
  boot.has_update_grub = host.exists("/usr/sbin/update-grub");
  if (boot.entry.empty() || !boot.has_update_grub) return boot;
  boot.loader = "grub";
  boot.own_choice = administrators_choice(host);
  return boot;
}

}  // namespace slipway::driver
