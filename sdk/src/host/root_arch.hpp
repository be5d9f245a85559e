// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/root_arch.hpp - tells the machine type of a root filesystem from its programs.
#pragma once

#include <string>

#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// As `uname -m` says it on this machine.
std::string running_arch();

/// As `uname -m` would say it in that root, from the ELF header of its shell or init; running_arch() without any.
std::string root_arch(const RootDir& root);

}  // namespace slipway::detail
