// SPDX-License-Identifier: Apache-2.0
// sim/view/view.hpp - shows a simulated machine like its kernel would: a folder with sys/, proc/ and dev/.
//
// The folder becomes HostConfig::kernel_view, so that detect() and verify() read it through the same Host as a real
// machine. No driver is bound and no NVIDIA module is loaded, as on the bare machine that slipway meets first, unless
// the profile's settings name a driver ("h100x8,driver=550.90.07").
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "sim/model/profile.hpp"

namespace slipway::sim {

/// A kernel's view in the file system. The folder stays until its owner removes it.
struct SimView {
  std::string folder;          ///< absolute; holds sys/, proc/ and dev/
  std::string profile;         ///< the profile's name
  std::string arch;            ///< in the form of `uname -m`
  std::string kernel_release;  ///< of the machine's running kernel
};

/// Writes the view of a profile (in the form of read_sim_profile()) from slipway's own profile folders.
/// @param folder  created if it is missing; an existing view is replaced
/// Errors: those of read_sim_profile(); `conflict` when the folder contains something that is not a view; `io`,
/// `no_space`, …
Result<SimView> open_sim_view(const std::string& name_or_file, const std::string& folder);

/// The same for a parsed profile.
Result<SimView> write_sim_view(const SimProfile& profile, const std::string& folder);

/// Writes sys/, proc/ and dev/ of a profile's bare machine into a folder that may have other contents, for example a
/// root filesystem. Errors: those of the file system.
Status add_sim_view(const SimProfile& profile, const std::string& folder);

}  // namespace slipway::sim
