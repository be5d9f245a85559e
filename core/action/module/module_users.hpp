// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_users.hpp - who uses a loaded kernel module: modules on top of it, and programs.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::core {

/// The version that a loaded module names (/sys/module/NAME/version); empty when it names none or is not loaded.
std::string loaded_version(const Host& host, const std::string& name);

/// The loaded modules that need this one, directly or not, each before those that it needs itself: the order in which
/// they can be unloaded. `name` is not among them.
std::vector<std::string> modules_on_top(const Host& host, const std::string& name);

/// Of these modules, those that somebody besides other modules uses (open devices, mounts): "acme_uvm (use count 2)",
/// as the kernel counts: one open device may count twice.
std::vector<std::string> used_from_outside(const Host& host, const std::vector<std::string>& names);

}  // namespace slipway::core
