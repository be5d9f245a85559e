// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "driver/detect/kernel_config.hpp"
#include "driver/detect/kernel_driver.hpp"

namespace slipway::driver {
namespace {

bool any_line_has(const Host& host, const std::string& file, std::string_view word) {
  const auto text = host.read(file);
  if (!text) return false;
  return std::ranges::any_of(lines_of<std::string_view>(*text), [word](std::string_view line) {
    return !line.starts_with('#') && line.find(word) != std::string_view::npos;
  });
}

bool any_file_has(const Host& host, const std::string& folder, std::string_view word) {
  const auto names = host.list(folder);
  if (!names) return false;
  for (const auto& name : *names)
    if (any_line_has(host, folder + "/" + name, word)) return true;
  return false;
}

bool has_program(const Host& host, const std::string& name) {
  return host.exists("/usr/bin/" + name) || host.exists("/usr/sbin/" + name);
}

// MODULES=most, the default, includes no graphics drivers. They are included by name, with MODULES=dep or list, and by
// the hooks of splash screens.
bool initramfs_tools_may_hold_nouveau(const Host& host) {
  const std::string etc = "/etc/initramfs-tools";
  const std::string share = "/usr/share/initramfs-tools";
  for (const auto module : kKernelDriverModules)
    if (any_line_has(host, etc + "/modules", module) || any_file_has(host, share + "/modules.d", module)) return true;
  for (const auto* hook : {"/hooks/plymouth", "/hooks/framebuffer"})
    if (host.exists(share + hook) || host.exists(etc + hook)) return true;
  for (const auto* setting : {"MODULES=dep", "MODULES=list", "FRAMEBUFFER=y"})
    if (any_line_has(host, etc + "/initramfs.conf", setting) || any_file_has(host, etc + "/conf.d", setting) ||
        any_file_has(host, share + "/conf.d", setting) || any_file_has(host, share + "/conf-hooks.d", setting))
      return true;
  return false;
}

}  // namespace

Initramfs read_initramfs(const Host& host, const std::string& kernel_release) {
  const bool nouveau = has_kernel_driver(host, kernel_release);
  // Follows the order of the trigger `initramfs`: update-initramfs may be a script that starts dracut (Ubuntu 26.04).
  if (has_program(host, "dracut")) return {"dracut", nouveau};
  if (has_program(host, "update-initramfs"))
    return {"initramfs-tools", nouveau && initramfs_tools_may_hold_nouveau(host)};
  if (has_program(host, "mkinitcpio")) return {"mkinitcpio", nouveau};
  return {};
}

}  // namespace slipway::driver
