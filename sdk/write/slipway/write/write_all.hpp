// SPDX-License-Identifier: Apache-2.0
// sdk/write/slipway/write/write_all.hpp - a whole write on a descriptor, with an error that names the file.
#pragma once

#include <string_view>

#include <slipway/result.hpp>

namespace slipway {

/// Errors: `no_space`, `io`.
Status write_all(int fd, std::string_view bytes, std::string_view name);

}  // namespace slipway
