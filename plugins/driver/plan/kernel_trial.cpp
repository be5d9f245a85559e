// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/kernel_trial.cpp - with `boot_gate: true` and GRUB, a new kernel is booted once; it becomes the
// default when that boot was verified. A later plan then does not have these actions any more, and so releases the
// default.
#include <algorithm>

#include <fmt/format.h>

#include <slipway/action/as_recorded.hpp>

#include "base/kernels/kernels.hpp"
#include "base/units/unit_text.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kUpdateGrub = "update-grub";
constexpr const char* kNextEntry = "grub-next-entry";
constexpr const char* kUnit = "slipway-kernel-verified.service";

std::string newest_of(const Receipt& receipt) {
  std::vector<std::string> releases;
  for (const auto& kernel : receipt.kernels()) releases.push_back(kernel.release);
  base::sort_newest_first(releases);
  return releases.empty() ? std::string{} : releases.front();
}

/// Returns the entry of another kernel: grub-mkconfig names entries after their kernel. The menu does not have it yet
/// while a package manager installs the kernel.
std::string entry_of(const KernelTrial& trial, const std::string& release) {
  std::string entry = trial.entry;
  const auto at = entry.rfind(trial.running);
  return at == std::string::npos ? std::string{} : entry.replace(at, trial.running.size(), release);
}

/// Returns why a kernel cannot be tried; empty: it can.
std::string obstacle_of(const KernelTrial& trial, const std::string& newest) {
  if (!trial.own_choice.empty()) return trial.own_choice + " is the administrator's choice, and stays";
  if (!trial.has_programs || entry_of(trial, newest).empty()) return "slipway does not know this boot loader";
  if (!trial.not_writable.empty()) return "GRUB cannot write its environment block, since " + trial.not_writable;
  if (!trial.next_entry.empty() && trial.tried != newest)
    return fmt::format("the next boot is chosen already (next_entry={} in {})", trial.next_entry, kGrubEnvironment);
  return {};
}

bool holds_another(const Plan& plan) {
  return std::ranges::any_of(plan.actions(), [](const Action& action) { return action.target() == kGrubFile; });
}

void add_unit(const std::string& program, Plan& plan) {
  plan.add(action::systemd_unit(
               {.name = kUnit,
                .content = fmt::format(R"(# Written by slipway (component driver); change the spec, not this file.
[Unit]
Description=slipway: boot this kernel by default, since its boot was verified
Requires=slipway-verify.service
After=slipway-verify.service slipway-ready.target
ConditionPathExists={}
{}
[Service]
Type=oneshot
ExecStartPre=/bin/touch {}
ExecStart={} kernel installed %v
TimeoutStartSec=1h
KillMode=mixed
# It writes GRUB's menu; a mount namespace would hide its changes. Otherwise as in slipway-boot.service.
{}
[Install]
WantedBy=slipway-ready.target
)",
                                       kGrubFile, base::unit_while_installed(program), kVerifiedBoot,
                                       base::unit_word(program), base::kLimitsOfAnApply),
                .enabled = true,
                .started = false}))
      .because("a kernel becomes the default once its boot was verified");
}

void add_trial(const KernelTrial& trial, const std::string& newest, Plan& plan) {
  const std::string line = fmt::format("set default=\"{}\"", trial.entry);
  // Before the file in the plan, so that a removal, which is in the opposite order, runs update-grub without the file.
  plan.add(action::exec({.name = kUpdateGrub,
                         .argv = {"update-grub"},
                         .check = {"grep", "-qF", line, "/boot/grub/grub.cfg"},
                         .undo = {"update-grub"}}))
      .because("GRUB's menu has the default");
  plan.add(action::file({.path = kGrubFile,
                         .content = fmt::format("# Written by slipway (component driver), until a boot of kernel {} is "
                                                "verified.\nGRUB_DEFAULT=\"{}\"\n",
                                                newest, trial.entry)}))
      .because("the boot default stays on the kernel that runs");
  const std::string tried = "slipway_tried=" + newest;
  plan.add(action::exec(
               {.name = kNextEntry,
                .argv = {"grub-editenv", kGrubEnvironment, "set", "next_entry=" + entry_of(trial, newest), tried},
                .check = {"grep", "-qxF", tried, kGrubEnvironment},
                .undo = {"grub-editenv", kGrubEnvironment, "unset", "next_entry", "slipway_tried"}}))
      .because("GRUB boots the new kernel once");
}

}  // namespace

void add_kernel_trial(const HostFacts& facts, const Target& target, const Receipt& receipt, Plan& plan) {
  const KernelTrial& trial = facts.kernel_trial;
  if (!trial.asked || !target.live || !facts.has_systemd) return;
  add_unit(target.slipway, plan);
  const std::string newest = newest_of(receipt);
  if (holds_another(plan)) return;
  if (newest == trial.running) {
    if (!trial.owns_default || trial.verified) return;
    plan.add(action::as_recorded("exec", kUpdateGrub));
    plan.add(action::as_recorded("file", kGrubFile));
    plan.add(action::as_recorded("exec", kNextEntry));
    plan.note(fmt::format("boot default: kernel {} becomes the default when this boot is verified", newest));
    return;
  }
  // A trial begins when the kernel is installed. Later a person may have chosen to boot an older one.
  const bool begins = facts.changed_kernel == newest;
  const bool goes_on = trial.owns_default && trial.tried == newest;
  if ((!begins && !goes_on) || !receipt.has_kernel(trial.running) ||
      base::kernel_key(newest) < base::kernel_key(trial.running))
    return;
  if (const std::string obstacle = obstacle_of(trial, newest); !obstacle.empty()) {
    plan.note(
        fmt::format("boot default: kernel {} is not tried once before it becomes the default: {}", newest, obstacle));
    return;
  }
  add_trial(trial, newest, plan);
  plan.note(
      fmt::format("boot default: kernel {} is booted once, and becomes the default when that boot is verified; "
                  "until then the default is kernel {}",
                  newest, trial.running));
}

}  // namespace slipway::driver
