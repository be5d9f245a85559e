// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/digest.hpp - SHA-256 of bytes.
#pragma once

#include <string>
#include <string_view>

namespace slipway::driver {

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace slipway::driver
