// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/shared_object.hpp - the soname of a shared library.
#pragma once

#include <string>

namespace slipway::driver {

/// DT_SONAME of an ELF file; empty when it has none or is no shared library.
std::string read_soname(const std::string& file);

}  // namespace slipway::driver
