// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/root_layout.hpp - the folders in which a root keeps modules, firmware and libraries, and its
// system.
//
// The data read here does not change when the resulting plan is carried out; otherwise plans would never become empty.
#pragma once

#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::driver {

/// Returns the folder with modules and firmware: "/usr/lib", or "/lib" in a root where /lib is not a link.
std::string lib_folder(const Host& host);

/// Returns the public library folder: "/usr/lib/x86_64-linux-gnu" (Debian) or else "/usr/lib64", if it exists; empty
/// when neither does.
std::string public_libdir(const Host& host);

/// Returns the programs that run hooks when a kernel is installed: "debian" (/etc/kernel/postinst.d), else
/// "kernel-install" (/etc/kernel/install.d); empty when the root has neither.
std::string kernel_hooks(const Host& host);

/// Returns "x86_64-linux-gnu" for "x86_64"; empty for an architecture without a driver.
std::string debian_triplet(std::string_view arch);

/// Returns ID and VERSION_ID of os-release in the form of package names: "debian12", "ubuntu24.04", "rhel9" (without
/// the minor version of RHEL and its rebuilds). Empty when the root has no os-release.
std::string os_tag(const Host& host);
std::string os_tag(std::string_view id, std::string_view version_id);

/// Returns a relative link target from the folder of `link` to `target`; both are absolute. Relative links are valid
/// under any root.
std::string relative_target(std::string_view link, std::string_view target);

}  // namespace slipway::driver
