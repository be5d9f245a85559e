// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action/triggers.hpp - work that is done once, after all the actions that ask for it by
// Action::triggers().
#pragma once

#include <string>

namespace slipway::action {

/// Rebuilds the cache of the dynamic linker. Since: SDK 1.0
inline std::string ldconfig() { return "ldconfig"; }

/// Rebuilds the list of a kernel's modules.
/// @param kernel_release  "6.1.0-50-amd64". Since: SDK 1.0
inline std::string depmod(const std::string& kernel_release) { return "depmod:" + kernel_release; }

/// Rebuilds the initramfs of a kernel. Since: SDK 1.0
inline std::string initramfs(const std::string& kernel_release) { return "initramfs:" + kernel_release; }

/// systemd reloads its unit files. Since: SDK 1.0
inline std::string daemon_reload() { return "daemon-reload"; }

/// Restarts a running systemd unit.
/// @param unit  "containerd.service". Since: SDK 1.0
inline std::string restart(const std::string& unit) { return "restart:" + unit; }

/// A running systemd unit reloads its settings. Since: SDK 1.0
inline std::string reload(const std::string& unit) { return "reload:" + unit; }

/// systemd-sysusers creates the users that its files name. Since: SDK 1.0
inline std::string sysusers() { return "sysusers"; }

/// udev reapplies its rules to the devices of a subsystem. Since: SDK 1.0
inline std::string udev(const std::string& subsystem) { return "udev:" + subsystem; }

}  // namespace slipway::action
