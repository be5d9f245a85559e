// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/package_folder.hpp - lays out the layers of a driver package from Debian's files.
//
// Debian keeps real files in .../nvidia/current and makes the public names at installation; a package holds one plain
// tree, with the links beside the files. Non-free files are copied byte for byte, with their licence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/build/deb_set.hpp"
#include "driver/package/package.hpp"

namespace slipway::driver {

/// usr/lib/TRIPLET/*.so.VERSION with their sonames, usr/bin, etc/OpenCL/vendors, usr/share/doc/PACKAGE/copyright.
/// @param left_out  receives "PATH (PACKAGE)" of files that are not part of a driver package, except documentation
/// @return the description that plans need. Errors: those of unpack_deb(), `conflict` for a library of another version.
Result<PackageFiles> lay_out_userspace(const DriverDebs& driver, const std::string& into,
                                       std::vector<std::string>& left_out);

/// Writes nvidia/VERSION/*.bin and the licence.
Status lay_out_firmware(const DriverDebs& driver, const std::string& into);

/// The open modules' README, beside the source: with the list of GPUs that they support. It is not packed.
inline constexpr std::string_view kReadme = "README.md.gz";

/// Writes nvidia-VERSION/ with the Makefile and the licence, and kReadme where there is one. Modules that cannot work
/// are not listed (see .cpp).
Result<SourceTree> lay_out_source(const DriverDebs& driver, const std::string& into);

/// Writes usr/src and lib/modules of a kernel's headers, as in their packages.
Status lay_out_headers(const std::vector<DebInfo>& debs, const std::string& into);

/// Returns DT_SONAME of an ELF file; empty when it has none or is not a shared library.
std::string read_soname(const std::string& file);

}  // namespace slipway::driver
