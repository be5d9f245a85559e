// SPDX-License-Identifier: Apache-2.0
// core/host/copy_tree.hpp - copies a folder with all below it: modes, times and links as they are.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// Host paths; `to` is made. Owners become the caller's; special files are left out. Shares the blocks where the
/// filesystem can (reflink). Errors: `no_space`, `io`, `denied`.
Status copy_tree(const std::string& from, const std::string& to);

}  // namespace slipway::core
