// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/root_layout.hpp - where a root keeps modules, firmware and libraries, and what system it is.
//
// What is read here stays the same when the plan that follows from it was carried out; else plans would not settle.
#pragma once

#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::driver {

/// Below which folder modules and firmware are: "/usr/lib", or "/lib" in a root where that is a folder of its own.
std::string lib_folder(const Host& host);

/// The public library folder: "/usr/lib/x86_64-linux-gnu" (Debian's), else "/usr/lib64", whichever is there; empty when
/// neither is.
std::string public_libdir(const Host& host);

/// "x86_64-linux-gnu" for "x86_64"; empty for an architecture that has no driver.
std::string debian_triplet(std::string_view arch);

/// ID and VERSION_ID of os-release as packages name a system: "debian12", "ubuntu24.04", "rhel9" (the minor version of
/// RHEL and its rebuilds is cut). Empty when the root does not say.
std::string os_tag(const Host& host);
std::string os_tag(std::string_view id, std::string_view version_id);

/// A relative link target from the folder of `link` to `target`; both absolute. Relative links hold under any root.
std::string relative_target(std::string_view link, std::string_view target);

}  // namespace slipway::driver
