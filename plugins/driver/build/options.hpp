// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/options.hpp - the command line of `slipway driver build`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <slipway/command_line.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::driver {

/// All paths are absolute.
struct BuildOptions {
  std::string debs;     ///< folder of .deb files
  std::string kernel;   ///< release; empty: only the source package
  std::string output;   ///< OCI layout folder
  std::string headers;  ///< tree with usr/src and lib/modules; empty: from the .deb files
  std::string root = "/";
  nvidia::Flavour flavour = nvidia::Flavour::open;
  std::optional<nvidia::Flavour> default_flavour;
  std::string os;                       ///< "debian12"; empty: that of the root
  std::optional<std::string> compress;  ///< "xz", "zstd" or ""; not set: default_compression() of the system
  std::string sign_key;
  std::string sign_cert;
  std::string supported_gpus;  ///< NVIDIA's supported-gpus.json; empty: Debian's lists
  std::string scratch;         ///< folder for temporary files; empty: $TMPDIR, or /var/tmp
  bool with_source = false;
  bool record_failure = false;
};

/// The command line of `slipway driver build`.
CommandTable build_line();

/// Errors: `usage` for a missing option, or options that exclude each other.
Result<BuildOptions> build_options(const CommandWords& words);

/// Returns the default compression of modules for a system: "zstd" where the system's kmod reads it (Debian 12, Ubuntu
/// 22.04 and later ones), which loads about ten times as fast; "xz" elsewhere, which every kmod since 2013 reads.
/// @param os  ID and VERSION_ID of os-release: "debian12", "ubuntu22.04"
std::string default_compression(std::string_view os);

}  // namespace slipway::driver
