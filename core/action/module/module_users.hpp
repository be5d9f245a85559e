// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_users.hpp - who uses a loaded kernel module, and why one could not be loaded or unloaded.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// The version that a loaded module names (/sys/module/NAME/version); empty when it names none or is not loaded.
std::string loaded_version(const Host& host, const std::string& name);

/// The loaded modules that need this one, directly or not, each before those that it needs itself: the order in which
/// they can be unloaded. `name` is not among them.
std::vector<std::string> modules_on_top(const Host& host, const std::string& name);

/// Of these modules, those that somebody besides other modules uses (open devices, mounts): "acme_uvm (use count 2)",
/// as the kernel counts: one open device may count twice.
std::vector<std::string> used_from_outside(const Host& host, const std::vector<std::string>& names);

/// @param number        errno of finit_module(2)
/// @param messages      what the kernel said meanwhile
/// @param command_line  the kernel's: module_blacklist= forbids modules
Error load_failure(const std::string& module, const std::string& kernel_release, int number,
                   const std::vector<std::string>& messages, const std::string& command_line);

/// @param line      of modprobe.d, which modprobe follows instead of loading the module: "install acme /bin/false"
/// @param messages  what the kernel said meanwhile
Error prevented_load(const std::string& module, const std::string& line, const std::vector<std::string>& messages);

/// Names who holds the module: other modules, and how many users the kernel counts besides.
Error unload_failure(const std::string& module, int number, const Host& host);

}  // namespace slipway::core
