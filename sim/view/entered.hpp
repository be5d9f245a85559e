// SPDX-License-Identifier: Apache-2.0
// sim/view/entered.hpp - a simulated machine for the time of one command: what its kernel shows, and its library.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

struct EnteredMachine {
  std::string kernel_view;     ///< folder with sys/, proc/ and dev/
  std::string kernel_release;  ///< of the kernel that runs there
  /// "NAME=VALUE" for whoever is to find the simulated libnvidia-ml.so.1. Empty: no GPU is simulated.
  std::vector<std::string> environment;
  std::string note;                   ///< why no GPU is simulated
  std::string driver;                 ///< the version that the profile has; empty: somebody chose it
  std::vector<std::string> machines;  ///< folders with the machine's state
};

/// Makes the machine. Its state is written when the first program opens the library: below the root, where it stays
/// from command to command, or for this command alone when the root is this machine's.
/// @param profile  as read_sim_profile() takes it
/// @param folder   for this command alone
/// @param root     host path, "/" for this machine's
/// Errors: those of open_sim_view().
Result<EnteredMachine> enter_machine(const std::string& profile, const std::string& folder, const std::string& root);

/// What the kernel shows becomes what the machine has by now, and its driver that of the root, where its version was
/// not asked for.
Status follow_root(const EnteredMachine& machine, const std::string& root);

}  // namespace slipway::core
