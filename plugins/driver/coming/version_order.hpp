// SPDX-License-Identifier: Apache-2.0
// plugins/driver/coming/version_order.hpp - the order of versions in dpkg and in rpm.
#pragma once

#include <string_view>

namespace slipway::driver {

/// Returns -1, 0 or 1, as deb-version(7) orders "EPOCH:UPSTREAM-REVISION".
int compare_deb_versions(std::string_view one, std::string_view other);

/// Returns -1, 0 or 1, as rpm orders one part of a version (rpmvercmp): digits, letters, '~' before all, '^' after.
int compare_rpm_versions(std::string_view one, std::string_view other);

}  // namespace slipway::driver
