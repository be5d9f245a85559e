// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/choose.hpp - the package of a catalogue that fits a kernel, or a text with the existing
// packages when none fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/inputs.hpp>
#include <slipway/result.hpp>

#include "driver/choose/version_constraint.hpp"
#include "driver/package/package.hpp"

namespace slipway::driver {

enum class Precompiled { prefer, require, never };

/// The requirements for a package.
struct Wanted {
  std::string source;   ///< the repository, for messages
  std::string version;  ///< in the packages' spelling; before the choice, the text of the spec
  std::string kernel_release;
  std::string os;                         ///< "debian12"; empty: unknown, any fits
  std::string arch;                       ///< "x86_64"
  std::vector<nvidia::Flavour> flavours;  ///< best first
  Precompiled precompiled = Precompiled::prefer;
  bool complete = true;        ///< the catalogue contains everything that the source has
  std::string compiled_from;   ///< digest of the source package that the installed modules for this kernel are made of
  bool known_missing = false;  ///< an earlier search of the whole source found no package for this kernel
};

struct Choice {
  const Package* package = nullptr;  ///< borrowed from the caller's list
  bool compile = false;              ///< `package` is a source package, to be compiled for the kernel
  std::vector<std::string> notes;
};

/// Returns the package for the kernel: an exact one first, in the order of flavours; else, if policy allows, the source
/// package. `wanted.version` must be in the packages' spelling. Errors: `needs_catalogue`; `build_failed` the source is
/// known not to compile there; `not_found` with the requirements, the packages that exist, and the remedy.
Result<Choice> choose_package(const std::vector<Package>& packages, const Wanted& wanted);

/// Returns the kernels with a package, or with a source package that can be compiled for them, in any allowed version
/// and any flavour. @param wanted  its system, architecture and `precompiled` count
std::vector<std::string> kernels_with_package(const std::vector<std::string>& kernels,
                                              const std::vector<Package>& packages, const Catalogue& catalogue,
                                              const VersionConstraint& allowed, const Wanted& wanted);

}  // namespace slipway::driver
