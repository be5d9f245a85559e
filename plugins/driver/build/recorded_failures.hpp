// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/recorded_failures.hpp - which kernels a source package in a layout is already known not to
// compile for, so that building it again does not forget them.
#pragma once

#include <map>
#include <string>

#include "driver/build/description.hpp"

namespace slipway::driver {

/// Kernel release to the compiler's first error, of the source package of the same driver, flavour, system and
/// architecture. Empty when the layout is not there yet, or cannot be read: then pkg.build says why.
std::map<std::string, std::string> recorded_failures(const std::string& layout, const Built& of);

}  // namespace slipway::driver
