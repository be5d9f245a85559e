// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/choose.hpp - which package of a catalogue fits a kernel, and in words what is there when none
// does.
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

/// What a package is looked for.
struct Wanted {
  std::string source;   ///< the repository, for messages
  std::string version;  ///< as the packages spell it; before one is chosen, what the spec says
  std::string kernel_release;
  std::string os;                         ///< "debian12"; empty: not known, any will do
  std::string arch;                       ///< "x86_64"
  std::vector<nvidia::Flavour> flavours;  ///< best first
  Precompiled precompiled = Precompiled::prefer;
  bool complete = true;        ///< the catalogue holds all that the source has
  std::string compiled_from;   ///< digest of the source package that the installed modules for this kernel are made of
  bool known_missing = false;  ///< it was found before, with all of the source, that it has no package for this kernel
};

struct Choice {
  const Package* package = nullptr;  ///< borrowed from the list that was given
  bool compile = false;              ///< `package` is a source package, to be compiled for the kernel
  std::vector<std::string> notes;
};

/// The package for the kernel: exact first, in the order of flavours; else, where policy lets, the source package.
/// `wanted.version` must be a version as the packages spell it. Errors: `needs_catalogue`; `build_failed` the source is
/// known not to compile there; `not_found` with what was looked for, what there is and what to do.
Result<Choice> choose_package(const std::vector<Package>& packages, const Wanted& wanted);

/// Those of the kernels that the source has a package for, or a source package to compile for them, of any version that
/// is allowed and whatever the flavour. @param wanted  its system, architecture and `precompiled` count
std::vector<std::string> kernels_with_package(const std::vector<std::string>& kernels,
                                              const std::vector<Package>& packages, const Catalogue& catalogue,
                                              const VersionConstraint& allowed, const Wanted& wanted);

}  // namespace slipway::driver
