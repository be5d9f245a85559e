// SPDX-License-Identifier: Apache-2.0
#include "driver/boot/kernel_trial.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <slipway/text.hpp>

#include "driver/boot/boot_default.hpp"

namespace slipway::driver {
namespace {

/// What `boot_gate: true` enables.
constexpr const char* kGate = "/etc/systemd/system/boot-complete.target.requires/slipway-verify.service";
constexpr const char* kFolder = "/boot/grub";
constexpr std::size_t kMountsLimit = 4U << 20;
constexpr std::size_t kBlockLimit = 1U << 16;
/// Filesystems whose files GRUB can overwrite in place.
constexpr std::array<std::string_view, 5> kPlain{"ext2", "ext3", "ext4", "vfat", "xfs"};

/// Returns a variable of an environment block; its lines are NAME=VALUE, and the rest is filled with #.
std::string variable_of(const std::string& block, const std::string& name) {
  for (const std::string& line : lines_of(block))
    if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
  return {};
}

bool is_below(const std::string& folder, const std::string& mount_point) {
  return mount_point == "/" || folder == mount_point || folder.starts_with(mount_point + "/");
}

/// True for a disk or a partition itself, which the firmware shows to GRUB as it is.
bool is_plain_disk(const std::string& device) {
  return std::ranges::any_of(std::array{"/dev/sd", "/dev/vd", "/dev/xvd", "/dev/hd", "/dev/nvme", "/dev/mmcblk"},
                             [&](const char* begin) { return device.starts_with(begin); });
}

}  // namespace

std::string why_grub_cannot_write(const std::string& mounts, const std::string& folder) {
  std::string mount_point;
  std::string type;
  std::string device;
  for (const std::string& line : lines_of(mounts)) {
    const std::vector<std::string> fields = split(line, ' ');
    const auto separator = std::ranges::find(fields, "-");
    if (fields.size() < 5 || fields.end() - separator < 3) continue;
    // Of several mounts on one folder the last one is visible.
    if (!is_below(folder, fields[4]) || fields[4].size() < mount_point.size()) continue;
    mount_point = fields[4];
    type = *(separator + 1);
    device = *(separator + 2);
  }
  if (mount_point.empty()) return "it is not known on which disk " + folder + " is";
  if (std::ranges::count(kPlain, type) == 0) return folder + " is on " + type;
  if (!is_plain_disk(device)) return folder + " is on " + device + ", which is not a plain disk";
  return {};
}

KernelTrial read_kernel_trial(const Host& host, const std::string& running) {
  KernelTrial trial;
  if (!host.live() || running.empty() || !host.exists(kGate)) return trial;
  const BootDefault boot = read_boot_default(host, running, {}, "");
  const std::string block = host.read(kGrubEnvironment, kBlockLimit).value_or("");
  trial.asked = true;
  trial.running = running;
  trial.entry = boot.entry;
  trial.own_choice = boot.own_choice;
  trial.next_entry = variable_of(block, "next_entry");
  trial.tried = variable_of(block, "slipway_tried");
  trial.not_writable = why_grub_cannot_write(host.read("/proc/self/mountinfo", kMountsLimit).value_or(""), kFolder);
  trial.has_programs = boot.has_update_grub && host.exists("/usr/bin/grub-editenv");
  trial.owns_default = host.exists(kGrubFile);
  trial.verified = host.exists(kVerifiedBoot);
  return trial;
}

}  // namespace slipway::driver
