// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/detect/root_layout.hpp"
#include "driver/package/package.hpp"
#include "driver/plan/module_parameters.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kHeader = "# Written by slipway (component driver); change the spec, not this file.\n";

std::string depmod(const std::string& release) { return "depmod:" + release; }

void add_link(Plan& plan, const std::string& path, const std::string& target, const std::string& why,
              std::vector<std::string> triggers = {}) {
  Action& link = plan.add(action::symlink(path, relative_target(path, target)));
  link.because(why);
  if (!triggers.empty()) link.triggers(std::move(triggers));
}

void add_store(const Installation& installation, Plan& plan) {
  const Package& package = *installation.package;
  const std::string& release = installation.receipt.kernel_release;
  const auto layer = [&](std::string as, const Json& descriptor, const Json& build = nullptr) {
    return action::Layer{std::move(as), "source", descriptor, package.digest, build};
  };
  action::Unpack unpack{std::string{kStoreName}, {layer("userspace", package.userspace)}};
  if (!package.firmware.is_null()) unpack.layers.push_back(layer("firmware", package.firmware));
  const bool compile = !installation.build.is_null();
  unpack.layers.push_back(layer("modules/" + release, compile ? package.source : package.modules, installation.build));
  plan.add(action::unpack(unpack))
      .triggers({"ldconfig", depmod(release)})
      .because(fmt::format("driver {} ({}) for kernel {}", package.version, installation.receipt.flavour, release));
}

void add_userspace_links(const Receipt& receipt, Plan& plan) {
  const std::string libraries = fmt::format("{}/{}", kUserspaceFolder, receipt.files.libdir);
  plan.add(action::file({.path = "/etc/ld.so.conf.d/slipway-driver.conf", .content = kHeader + libraries + "\n"}))
      .triggers({"ldconfig"})
      .because("programs find libcuda and libnvidia-ml through ld.so.cache");
  if (!receipt.libdir.empty())
    for (const auto& name : receipt.files.libraries)
      add_link(plan, receipt.libdir + "/" + name, libraries + "/" + name, "programs that look in fixed folders find it",
               {"ldconfig"});
  for (const auto& tool : receipt.files.tools)
    add_link(plan, "/usr/bin/" + tool, fmt::format("{}/usr/bin/{}", kUserspaceFolder, tool), "a tool of the driver");
  for (const auto& icd : receipt.files.icds)
    add_link(plan, "/etc/OpenCL/vendors/" + icd, fmt::format("{}/etc/OpenCL/vendors/{}", kUserspaceFolder, icd),
             "OpenCL loaders find the driver");
}

void add_kernel_links(const HostFacts& facts, const Receipt& receipt, Plan& plan) {
  const std::string& release = receipt.kernel_release;
  if (receipt.firmware)
    add_link(plan, fmt::format("{}/firmware/nvidia/{}", facts.lib_folder, receipt.version),
             fmt::format("{}/nvidia/{}", kFirmwareFolder, receipt.version), "the GSP of the GPUs boots from it");
  add_link(plan, fmt::format("{}/modules/{}/updates/slipway", facts.lib_folder, release),
           modules_folder(release) + "/kernel", "modprobe finds the modules", {depmod(release)});
}

std::string modprobe_text(const Settings& settings) {
  std::string text = kHeader;
  if (settings.blacklist_nouveau)
    text += "blacklist nouveau\noptions nouveau modeset=0\nblacklist nova_core\nblacklist nova_drm\n";
  return text + options_lines(settings.parameters);
}

void add_configuration(const Settings& settings, const HostFacts& facts, const Receipt& receipt, Plan& plan) {
  Action& modprobe =
      plan.add(action::file({.path = "/etc/modprobe.d/slipway-nvidia.conf", .content = modprobe_text(settings)}));
  modprobe.because(settings.blacklist_nouveau ? "module options, and nouveau kept away from the GPUs"
                                              : "module options");
  if (settings.blacklist_nouveau && facts.initramfs.may_hold_nouveau)
    modprobe.triggers({"initramfs:" + receipt.kernel_release});
  if (!settings.load.empty()) {
    std::string text = kHeader;
    for (const auto& module : settings.load) text += module + "\n";
    plan.add(action::file({.path = "/etc/modules-load.d/slipway-nvidia.conf", .content = text}))
        .because("each boot loads the modules");
  }
}

}  // namespace

void add_file_actions(const Settings& settings, const HostFacts& facts, const Installation& installation, Plan& plan) {
  add_store(installation, plan);
  add_userspace_links(installation.receipt, plan);
  add_kernel_links(facts, installation.receipt, plan);
  add_configuration(settings, facts, installation.receipt, plan);
  plan.add(action::file({.path = std::string{kReceiptPath}, .content = receipt_text(installation.receipt)}))
      .because("what driver is installed here, for `slipway verify` and other programs");
}

}  // namespace slipway::driver
