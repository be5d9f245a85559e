// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "driver/detect/kernel_config.hpp"

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

// MODULES=most, the default, takes no graphics drivers. They come in by name, with MODULES=dep or list, and by the
// hooks of splash screens.
bool initramfs_tools_may_hold_nouveau(const Host& host) {
  const std::string etc = "/etc/initramfs-tools";
  const std::string share = "/usr/share/initramfs-tools";
  if (any_line_has(host, etc + "/modules", "nouveau") || any_file_has(host, share + "/modules.d", "nouveau"))
    return true;
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
  const bool nouveau = has_nouveau_module(host, kernel_release);
  if (host.exists("/usr/sbin/update-initramfs"))
    return {"initramfs-tools", nouveau && initramfs_tools_may_hold_nouveau(host)};
  if (host.exists("/usr/bin/dracut")) return {"dracut", nouveau};
  if (host.exists("/usr/bin/mkinitcpio")) return {"mkinitcpio", nouveau};
  return {};
}

}  // namespace slipway::driver
