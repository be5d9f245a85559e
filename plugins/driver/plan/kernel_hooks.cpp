// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/kernel_hooks.cpp - hooks of package managers, which prepare the driver for a kernel that is
// installed, and remove its files with the kernel.
#include <fmt/format.h>

#include <slipway/action/triggers.hpp>

#include "base/units/unit_text.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kHookHeader = "# Written by slipway (component driver); change the spec, not this file.\n";
// Before dkms, dracut, initramfs-tools and zz-update-grub: run-parts sorts by name.
constexpr const char* kHookName = "00-slipway";
constexpr const char* kKernelInstall = "/etc/kernel/install.d/40-slipway.install";  // before 50-dracut.install
constexpr const char* kUnitFolder = "/etc/systemd/system/";

std::string shell_quoted(const std::string& word) { return "'" + word + "'"; }

/// The part of a hook that runs slipway. A stop by a signal, or a slipway that is being replaced, does not fail the
/// package manager's run.
std::string hook_commands(const std::string& program, const std::string& verb, const std::string& release) {
  return fmt::format(
      "[ -n \"{2}\" ] && [ -x {0} ] || exit 0\n"
      "{0} kernel {1} \"{2}\" --within=60s >&2\n"
      "[ $? -ne 1 ] || exit 1\n"
      "exit 0\n",
      shell_quoted(program), verb, release);
}

std::string hook_of_debian(const std::string& program, const std::string& verb, const std::string& about) {
  return fmt::format("#!/bin/sh\n{}# {}\n{}", kHookHeader, about, hook_commands(program, verb, "$1"));
}

std::string plugin_of_kernel_install(const std::string& program) {
  return fmt::format(
      "#!/bin/sh\n{}# Prepares the GPU driver for a kernel that is installed, and removes its files with the kernel.\n"
      "case \"$1\" in\n  add) verb=installed ;;\n  remove) verb=removed ;;\n  *) exit 0 ;;\nesac\n{}",
      kHookHeader, hook_commands(program, "$verb", "$2"));
}

std::string hook_unit_text(const std::string& program, const std::string& description, const std::string& words,
                           const std::string& first) {
  return fmt::format(R"({}[Unit]
Description=slipway: {}
After=local-fs.target network-online.target
Wants=network-online.target
{}
[Service]
Type=oneshot
{}ExecStart={} kernel {}
TimeoutStartSec=1h
KillMode=mixed
# It writes files and runs compilers and depmod; a mount namespace would hide its changes. Otherwise as in
# slipway-boot.service, since it is an apply as well.
{})",
                     kHookHeader, description, base::unit_while_installed(program), first, base::unit_word(program),
                     words, base::kLimitsOfAnApply);
}

void add_unit_file(Plan& plan, const std::string& name, std::string content, const char* why) {
  plan.add(action::file({.path = kUnitFolder + name, .content = std::move(content)}))
      .triggers({action::daemon_reload()})
      .because(why);
}

/// A timer or path unit that starts slipway-kernel-scan.service.
void add_starter(Plan& plan, const std::string& name, const std::string& text, const std::string& wanted_by,
                 const char* why) {
  plan.add(action::systemd_unit({.name = name,
                                 .content = kHookHeader + text + "\n[Install]\nWantedBy=" + wanted_by + "\n",
                                 .enabled = true,
                                 .started = true}))
      .because(why);
}

void add_program(Plan& plan, const std::string& path, std::string content, const char* why) {
  plan.add(action::file({.path = path, .content = std::move(content), .mode = 0755})).because(why);
}

void add_debian_hooks(const std::string& program, Plan& plan) {
  const std::string folder = "/etc/kernel/";
  const auto path = [&](const char* event) { return folder + event + "/" + kHookName; };
  add_program(plan, path("postinst.d"),
              hook_of_debian(program, "installed", "Before the initrd and the boot menu of a new kernel are made."),
              "a kernel that is installed gets the driver's modules");
  add_program(plan, path("header_postinst.d"),
              hook_of_debian(program, "installed", "When the headers of a kernel are installed after the kernel."),
              "modules that are compiled need the kernel's headers");
  add_program(plan, path("postrm.d"), hook_of_debian(program, "removed", "When a kernel was removed."),
              "the modules of a kernel are removed with the kernel");
}

}  // namespace

void add_kernel_hooks(const HostFacts& facts, const Target& target, const Receipt& receipt, Plan& plan) {
  const std::string& program = target.slipway;
  if (facts.kernel_hooks == "debian") add_debian_hooks(program, plan);
  if (facts.kernel_hooks == "kernel-install")
    add_program(plan, kKernelInstall, plugin_of_kernel_install(program),
                "a kernel that is installed gets the driver's modules");
  if (!facts.has_systemd) return;
  if (!facts.kernel_hooks.empty())
    add_unit_file(plan, "slipway-kernel@.service",
                  hook_unit_text(program, "prepare the GPU driver for kernel %i", "installed %i", ""),
                  "this unit continues work that takes too long for a package manager's hook");
  const bool retries = facts.follows_kernels && !receipt.without.empty();
  if (facts.kernel_hooks.empty() || retries)
    add_unit_file(plan, "slipway-kernel-scan.service",
                  hook_unit_text(program, "prepare the GPU driver for each kernel", "scan",
                                 facts.kernel_hooks.empty() ? "ExecStartPre=/bin/sleep 30\n" : ""),
                  "this unit prepares kernels that have no modules yet");
  if (facts.kernel_hooks.empty())
    add_starter(plan, "slipway-kernel-scan.path",
                "[Unit]\nDescription=slipway: wait for new kernels\n" + base::unit_while_installed(program) +
                    "\n[Path]\nPathChanged=/usr/lib/modules\n",
                "multi-user.target", "no package manager here tells slipway of new kernels");
  if (retries)
    add_starter(plan, "slipway-kernel-scan.timer",
                "[Unit]\nDescription=slipway: ask again for modules of the GPU driver\n" +
                    base::unit_while_installed(program) +
                    "\n[Timer]\nOnActiveSec=6h\nOnUnitActiveSec=6h\nRandomizedDelaySec=1h\n",
                "timers.target", "a kernel has no modules yet, and the source may have some later");
}

}  // namespace slipway::driver
