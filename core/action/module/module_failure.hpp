// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_failure.hpp - why a kernel module could not be loaded or unloaded, in words for people.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// "acme, acme-uvm"
std::string joined(const std::vector<std::string>& names);

/// @param number    errno of finit_module(2)
/// @param messages  what the kernel said meanwhile
Error load_failure(const std::string& module, const std::string& kernel_release, int number,
                   const std::vector<std::string>& messages);

/// Names who holds the module: other modules, and how many users the kernel counts besides.
Error unload_failure(const std::string& module, int number, const Host& host);

}  // namespace slipway::core
