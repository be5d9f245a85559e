// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/boot_default.cpp - keeps the boot default on the newest kernel with modules while a newer one has
// none. Later plans, with modules for that one, do not have these actions any more, and so release it.
#include <algorithm>

#include <fmt/format.h>

#include "base/kernels/kernels.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kAptFile = "/etc/apt/apt.conf.d/99slipway-kernel";

/// Returns the newest kernel without modules, if it is newer than those with modules; else "".
std::string newer_without_modules(const Receipt& receipt) {
  std::vector<std::string> without = receipt.without;
  if (without.empty()) return {};
  base::sort_newest_first(without);
  return base::kernel_key(receipt.kernel_release) < base::kernel_key(without.front()) ? without.front() : std::string{};
}

/// Escapes a release for apt's regular expressions.
std::string apt_pattern(const std::string& release) {
  std::string text;
  for (const char c : release) {
    if (c == '.' || c == '+') text += "\\\\";
    text += c;
  }
  return text;
}

void keep_grub_entry(const BootDefault& boot, bool live, Plan& plan) {
  const std::string line = fmt::format("set default=\"{}\"", boot.entry);
  // Before the file in the plan, so that a removal, which is in the opposite order, runs update-grub without the file.
  if (live)
    plan.add(action::exec({.name = "update-grub",
                           .argv = {"update-grub"},
                           .check = {"grep", "-qF", line, "/boot/grub/grub.cfg"},
                           .undo = {"update-grub"}}))
        .because("GRUB's menu has the default");
  plan.add(action::file({.path = kGrubFile,
                         .content = fmt::format("# Written by slipway (component driver), until the newest kernel has "
                                                "modules of the driver.\nGRUB_DEFAULT=\"{}\"\n",
                                                boot.entry)}))
      .because("the boot default stays on a kernel with modules");
}

}  // namespace

void add_boot_default(const Settings& settings, const HostFacts& facts, const Target& target, const Receipt& receipt,
                      Plan& plan) {
  const std::string newer = newer_without_modules(receipt);
  if (!settings.holds_kernel || !facts.follows_kernels) return;
  if (newer.empty()) {
    if (facts.installed && !newer_without_modules(*facts.installed).empty())
      plan.note(fmt::format("boot default: no longer kept on kernel {}", facts.installed->kernel_release));
    return;
  }
  const BootDefault& boot = facts.boot_default;
  const std::string& kept = receipt.kernel_release;
  if (!boot.own_choice.empty())
    plan.note(fmt::format("boot default: {} is the administrator's choice, and stays; kernel {} has no modules",
                          boot.own_choice, newer));
  else if (boot.entry.empty() || !boot.has_update_grub)
    plan.note(fmt::format(
        "boot default: slipway does not know this boot loader; choose kernel {} in it, since kernel {} has no modules",
        kept, newer));
  else {
    keep_grub_entry(boot, target.live, plan);
    plan.note(fmt::format("boot default: it stays on kernel {} until there are modules for kernel {}", kept, newer));
  }
  if (!boot.has_apt) return;
  plan.add(action::file({.path = kAptFile,
                         .content = fmt::format("// Written by slipway (component driver), until the newest kernel has "
                                                "modules of the driver.\nAPT::NeverAutoRemove {{ "
                                                "\"^linux-(image|modules|headers)(-[a-z]+)*-{}$\"; }};\n",
                                                apt_pattern(kept))}))
      .because("apt autoremove keeps the kernel that has modules");
}

}  // namespace slipway::driver
