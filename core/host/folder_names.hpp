// SPDX-License-Identifier: Apache-2.0
// core/host/folder_names.hpp - what is in an open folder, in an order that does not depend on the filesystem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

/// Sorted, without "." and "..". The descriptor was opened for reading and stays open. Errors: `io`.
Result<std::vector<std::string>> folder_names(int folder, std::string_view path);

}  // namespace slipway::core
