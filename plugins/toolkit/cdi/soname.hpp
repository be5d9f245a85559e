// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/soname.hpp - the name by which programs load a shared object: DT_SONAME of an ELF file.
#pragma once

#include <string>

#include <slipway/host.hpp>

namespace slipway::toolkit {

/// Reads a few pages of the file, which may be large; empty when it has no soname or is no 64-bit ELF file.
std::string read_soname(const Host& host, const std::string& path);

}  // namespace slipway::toolkit
