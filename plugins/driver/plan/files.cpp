// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/action/triggers.hpp>

#include "driver/detect/kernel_driver.hpp"
#include "driver/detect/root_layout.hpp"
#include "driver/package/package.hpp"
#include "driver/plan/module_parameters.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kHeader = "# Written by slipway (component driver); change the spec, not this file.\n";

constexpr const char* kModprobeFile = "/etc/modprobe.d/slipway-nvidia.conf";

void add_link(Plan& plan, const std::string& path, const std::string& target, const std::string& why,
              std::vector<std::string> triggers = {}) {
  Action& link = plan.add(action::symlink(path, relative_target(path, target)));
  link.because(why);
  if (!triggers.empty()) link.triggers(std::move(triggers));
}

/// Returns what check_staged_modules() needs besides the root: the keys that the spec names. The machine's own keys are
/// read when the modules are there.
Json check_of(const TrustedKeys& keys) {
  TrustedKeys named;
  named.spec = keys.spec;
  named.spec_is_complete = keys.spec_is_complete;
  return named == TrustedKeys{} ? Json::object() : Json{{"keys", named}};
}

void add_store(const Installation& installation, const TrustedKeys& keys, Plan& plan) {
  const Package& package = *installation.package;
  const Receipt& receipt = installation.receipt;
  const auto layer = [](std::string as, const Json& descriptor, const Package& of, const Json& build = nullptr) {
    return action::Layer{std::move(as), "source", descriptor, of.digest, build};
  };
  action::Unpack unpack{std::string{kStoreName}, {layer("userspace", package.userspace, package)}};
  if (!package.firmware.is_null()) unpack.layers.push_back(layer("firmware", package.firmware, package));
  std::vector<std::string> triggers{action::ldconfig()};
  for (const auto& modules : installation.modules()) {
    const Package& of = *modules.package;
    unpack.layers.push_back(layer("modules/" + modules.kernel.release, modules.build.is_null() ? of.modules : of.source,
                                  of, modules.build));
    triggers.push_back(action::depmod(modules.kernel.release));
  }
  for (const auto& modules : installation.second) {
    const Package& of = *modules.package;
    unpack.layers.push_back(layer(std::string{kProprietaryLayer} + modules.kernel.release,
                                  modules.build.is_null() ? of.modules : of.source, of, modules.build));
  }
  unpack.check = check_of(keys);
  plan.add(action::unpack(unpack))
      .triggers(std::move(triggers))
      .because(fmt::format("driver {} ({}) for {}", package.version, receipt.flavours_text(), receipt.kernels_text()));
}

void add_userspace_links(const Receipt& receipt, Plan& plan) {
  const std::string libraries = fmt::format("{}/{}", kUserspaceFolder, receipt.files.libdir);
  plan.add(action::file({.path = "/etc/ld.so.conf.d/slipway-driver.conf", .content = kHeader + libraries + "\n"}))
      .triggers({action::ldconfig()})
      .because("programs find libcuda and libnvidia-ml through ld.so.cache");
  if (!receipt.libdir.empty())
    for (const auto& name : receipt.files.libraries)
      add_link(plan, receipt.libdir + "/" + name, libraries + "/" + name, "programs that look in fixed folders find it",
               {action::ldconfig()});
  for (const auto& tool : receipt.files.tools)
    add_link(plan, "/usr/bin/" + tool, fmt::format("{}/usr/bin/{}", kUserspaceFolder, tool), "a tool of the driver");
  for (const auto& icd : receipt.files.icds)
    add_link(plan, "/etc/OpenCL/vendors/" + icd, fmt::format("{}/etc/OpenCL/vendors/{}", kUserspaceFolder, icd),
             "OpenCL loaders find the driver");
}

void add_kernel_links(const HostFacts& facts, const Installation& installation, Plan& plan) {
  const Receipt& receipt = installation.receipt;
  const bool second = installation.used == nvidia::Flavour::proprietary;
  const std::string why = !installation.used ? "modprobe finds the modules"
                                             : fmt::format("modprobe finds the {} modules, and no others",
                                                           nvidia::to_string(*installation.used));
  if (receipt.firmware)
    add_link(plan, fmt::format("{}/firmware/nvidia/{}", facts.lib_folder, receipt.version),
             fmt::format("{}/nvidia/{}", kFirmwareFolder, receipt.version), "the GSP of the GPUs boots from it");
  for (const auto& kernel : receipt.kernels())
    add_link(plan, fmt::format("{}/modules/{}/updates/slipway", facts.lib_folder, kernel.release),
             (second ? proprietary_modules_folder(kernel.release) : modules_folder(kernel.release)) + "/kernel", why,
             {action::depmod(kernel.release)});
}

std::string modprobe_text(const Settings& settings) {
  std::string text = kHeader;
  if (settings.both_modules) {
    text += "# slipway-boot.service loads those for the GPUs of the machine, by name.\n";
    for (const auto module : nvidia::kModules) text += fmt::format("blacklist {}\n", module);
  }
  if (settings.blacklist_nouveau) {
    for (const auto module : kKernelDriverModules) text += fmt::format("blacklist {}\n", module);
    text += "options nouveau modeset=0\n";
  }
  return text + options_lines(settings.parameters);
}

/// dracut includes modprobe.d only in a host-only initrd, and the kernel's own drivers in any other. dracut would also
/// include NVIDIA's modules with 60 MB of firmware, and load them from there long after they were replaced. A dracut
/// configuration file also applies to initrds that a kernel package creates later.
std::string dracut_text(const Settings& settings) {
  std::vector<std::string_view> omitted{"nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nvidia_peermem"};
  if (settings.blacklist_nouveau)
    omitted.insert(omitted.begin(), kKernelDriverModules.begin(), kKernelDriverModules.end());
  return fmt::format("{}install_items+=\" {} \"\nomit_drivers+=\" {} \"\n", kHeader, kModprobeFile,
                     fmt::join(omitted, " "));
}

/// Each initramfs that may contain nouveau needs the blacklist, even for a kernel without slipway's modules.
std::vector<std::string> initramfs_triggers(const HostFacts& facts, const Receipt& receipt) {
  std::vector<std::string> triggers;
  if (facts.kernel.initramfs.may_hold_nouveau) triggers.push_back(action::initramfs(receipt.kernel_release));
  for (const auto& kernel : facts.further_kernels)
    if (kernel.initramfs.may_hold_nouveau) triggers.push_back(action::initramfs(kernel.release));
  return triggers;
}

void add_modprobe(const Settings& settings, const HostFacts& facts, const Receipt& receipt, Plan& plan) {
  const auto triggers = settings.blacklist_nouveau ? initramfs_triggers(facts, receipt) : std::vector<std::string>{};
  const auto add_file = [&](const char* path, std::string content, const char* why) {
    Action& file = plan.add(action::file({.path = path, .content = std::move(content)}));
    file.because(why);
    if (!triggers.empty()) file.triggers(triggers);
  };
  add_file(kModprobeFile, modprobe_text(settings),
           settings.blacklist_nouveau ? "module options, and nouveau kept away from the GPUs" : "module options");
  if (facts.kernel.initramfs.tool == "dracut")
    add_file("/etc/dracut.conf.d/slipway-nvidia.conf", dracut_text(settings),
             "each initrd has the file above, and no driver");
}

void add_configuration(const Settings& settings, const HostFacts& facts, const Receipt& receipt, Plan& plan) {
  add_modprobe(settings, facts, receipt, plan);
  // With both kinds slipway-boot.service chooses before it loads.
  if (!settings.load.empty() && !settings.both_modules) {
    std::string text = kHeader;
    for (const auto& module : settings.load) text += module + "\n";
    plan.add(action::file({.path = "/etc/modules-load.d/slipway-nvidia.conf", .content = text}))
        .because("each boot loads the modules");
  }
}

}  // namespace

void add_file_actions(const Settings& settings, const HostFacts& facts, const Installation& installation, Plan& plan) {
  add_store(installation, facts.keys, plan);
  add_userspace_links(installation.receipt, plan);
  add_kernel_links(facts, installation, plan);
  add_configuration(settings, facts, installation.receipt, plan);
  plan.add(action::file({.path = std::string{kReceiptPath}, .content = receipt_text(installation.receipt)}))
      .because("what driver is installed here, for `slipway verify` and other programs");
}

}  // namespace slipway::driver
