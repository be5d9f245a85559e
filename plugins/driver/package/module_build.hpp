// SPDX-License-Identifier: Apache-2.0
// plugins/driver/package/module_build.hpp - the way in which the kernel modules of a source package are compiled: the
// same for plan() and for `slipway driver build`.
#pragma once

#include <string>
#include <vector>

#include <slipway/action.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {

struct ModuleBuild {
  std::string version;  ///< driver version, for the name
  std::string flavour;
  std::string kernel_release;
  SourceTree source;
  std::string compression;  ///< of the modules: "", "xz" or "zstd"
  std::string sign_key;     ///< PEM; empty: not signed
  std::string sign_certificate;
  std::string compiler;  ///< path in the root, "/usr/bin/gcc-12"
  std::string hint;      ///< how to install the headers and the compiler in the root
  Json identity;         ///< of the kernel's headers
};

/// Returns the build that creates `kernel/NAME.ko[.xz]` for each module, and Module.symvers for companion modules.
action::Build make_build(const ModuleBuild& request);

/// Returns "nvidia.ko.xz" for each module of the source.
std::vector<std::string> module_file_names(const SourceTree& source, const std::string& compression);

/// Returns the command that installs a kernel's headers and compiler, by os-release's ID and ID_LIKE.
std::string headers_hint(const std::string& os_family, const std::string& kernel_release, const std::string& compiler);

}  // namespace slipway::driver
