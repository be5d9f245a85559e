// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/options.hpp - the command line of `slipway driver build`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::driver {

struct BuildOptions {
  std::string debs;     ///< folder of .deb files
  std::string kernel;   ///< release; empty: only the source package
  std::string output;   ///< OCI layout folder
  std::string headers;  ///< tree with usr/src and lib/modules; empty: from the .deb files
  std::string root = "/";
  nvidia::Flavour flavour = nvidia::Flavour::open;
  std::optional<nvidia::Flavour> default_flavour;
  std::string os;               ///< "debian12"; empty: what the root is
  std::string compress = "xz";  ///< "xz", "zstd" or ""
  std::string sign_key;
  std::string sign_cert;
  std::string scratch;  ///< folder for temporary files; empty: $TMPDIR, or /var/tmp
  bool with_source = false;
  bool record_failure = false;
};

/// Errors: `invalid` for an unknown option (with the nearest one), a missing value or a missing option.
Result<BuildOptions> parse_build_options(const std::vector<std::string>& arguments);

/// The text of `slipway driver build --help`.
std::string build_usage();

}  // namespace slipway::driver
