// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/boot_default.cpp - keeps the boot default on the newest kernel with modules while a newer one has
// none. Later plans, with modules for that one, do not have these actions any more, and so release it.
#include <algorithm>

#include <fmt/format.h>

#include "base/kernels/kernels.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kDnfFile = "/etc/dnf/protected.d/slipway.conf";
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

/// GRUB itself writes to grubenv at each boot, so slipway sets one variable in it, and does not own the file.
void keep_saved_entry(const BootDefault& boot, const Receipt& receipt, Plan& plan) {
  const std::string setting = "saved_entry=" + boot.entry;
  std::vector<std::string> undo{boot.program, boot.file};
  if (receipt.former_entry.empty())
    undo.insert(undo.end(), {"unset", "saved_entry"});
  else
    undo.insert(undo.end(), {"set", "saved_entry=" + receipt.former_entry});
  plan.add(action::exec({.name = boot.program,
                         .argv = {boot.program, boot.file, "set", setting},
                         .check = {"grep", "-qxF", setting, boot.file},
                         .undo = std::move(undo)}))
      .because("the boot default stays on a kernel with modules");
}

void keep_loader_entry(const BootDefault& boot, Plan& plan) {
  plan.add(action::file({.path = boot.file, .content = boot.text, .mode = boot.mode}))
      .because("the boot default stays on a kernel with modules");
}

/// Empty: slipway keeps the default. Else the reason why it cannot.
std::string obstacle(const BootDefault& boot, bool live) {
  if (boot.loader.empty()) return "slipway does not know this boot loader";
  if (boot.entry.empty()) return fmt::format("slipway may not read {}", boot.file);
  if (boot.loader != "grub-bls") return {};
  if (boot.program.empty()) return "the root has no grub2-editenv";
  return live ? "" : fmt::format("slipway changes {} on a running machine only", boot.file);
}

void keep_from_apt(const std::string& kept, Plan& plan) {
  plan.add(action::file({.path = kAptFile,
                         .content = fmt::format("// Written by slipway (component driver), until the newest kernel has "
                                                "modules of the driver.\nAPT::NeverAutoRemove {{ "
                                                "\"^linux-(image|modules|headers)(-[a-z]+)*-{}$\"; }};\n",
                                                apt_pattern(kept))}))
      .because("apt autoremove keeps the kernel that has modules");
}

/// dnf's list has names of packages: it keeps dnf from removing the last kernel of that name.
void keep_from_dnf(const std::string& kept, Plan& plan) {
  const bool is_uek = kept.find("uek") != std::string::npos;
  const char* const names = is_uek ? "kernel-uek\nkernel-uek-core\nkernel-uek-modules\nkernel-uek-modules-core\n"
                                   : "kernel\nkernel-core\nkernel-modules\nkernel-modules-core\n";
  plan.add(action::file({.path = kDnfFile,
                         .content = fmt::format("# Written by slipway (component driver), until the newest kernel has "
                                                "modules of the driver.\n{}",
                                                names)}))
      .because("dnf keeps the kernel that has modules");
}

bool holds_default(const Settings& settings, const HostFacts& facts, const Receipt& receipt) {
  return settings.holds_kernel && facts.follows_kernels && !newer_without_modules(receipt).empty();
}

}  // namespace

void record_boot_default(const Settings& settings, const HostFacts& facts, bool live, Receipt& receipt) {
  const BootDefault& boot = facts.boot_default;
  if (!holds_default(settings, facts, receipt) || !boot.own_choice.empty() || !obstacle(boot, live).empty()) return;
  if (boot.loader == "grub") return;
  receipt.kept_entry = boot.entry;
  if (boot.loader == "systemd-boot") return;
  // Once slipway has set it, what was there is in the receipt alone.
  const bool is_ours = facts.installed && !boot.saved.empty() && boot.saved == facts.installed->kept_entry;
  receipt.former_entry = is_ours ? facts.installed->former_entry : boot.saved;
}

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
  if (!boot.own_choice.empty()) {
    plan.note(fmt::format("boot default: {} is the administrator's choice, and stays; kernel {} has no modules",
                          boot.own_choice, newer));
  } else if (const std::string why = obstacle(boot, target.live); !why.empty()) {
    plan.note(fmt::format("boot default: {}; choose kernel {} as its default, since kernel {} has no modules", why,
                          kept, newer));
  } else {
    if (boot.loader == "grub") keep_grub_entry(boot, target.live, plan);
    if (boot.loader == "grub-bls") keep_saved_entry(boot, receipt, plan);
    if (boot.loader == "systemd-boot") keep_loader_entry(boot, plan);
    plan.note(fmt::format("boot default: it stays on kernel {} until there are modules for kernel {}", kept, newer));
  }
  if (boot.has_apt) keep_from_apt(kept, plan);
  if (boot.has_dnf) keep_from_dnf(kept, plan);
}

}  // namespace slipway::driver
