// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_users.hpp - the users of a loaded kernel module, and the reasons why loading or unloading
// failed.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// Returns the version that a loaded module reports (/sys/module/NAME/version); empty when it reports none or is not
/// loaded.
std::string loaded_version(const Host& host, const std::string& name);

/// The loaded modules that need this one, directly or not, each before those that it needs itself: the order in which
/// they can be unloaded. `name` is not among them.
std::vector<std::string> modules_on_top(const Host& host, const std::string& name);

/// Returns those of the modules that have users other than modules (open devices, mounts), with the kernel's count:
/// "acme_uvm (use count 2)". One open device may count twice.
std::vector<std::string> used_from_outside(const Host& host, const std::vector<std::string>& names);

/// @param number        errno of finit_module(2)
/// @param messages      the kernel's messages during the call
/// @param command_line  the kernel's command line: module_blacklist= forbids modules
Error load_failure(const std::string& module, const std::string& kernel_release, int number,
                   const std::vector<std::string>& messages, const std::string& command_line);

/// @param line      the line of modprobe.d that modprobe follows instead of loading the module: "install acme
///                  /bin/false"
/// @param messages  the kernel's messages during the call
Error prevented_load(const std::string& module, const std::string& line, const std::vector<std::string>& messages);

/// Names the users of the module: other modules, and the kernel's count of all other users.
Error unload_failure(const std::string& module, int number, const Host& host);

}  // namespace slipway::core
