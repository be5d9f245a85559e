// SPDX-License-Identifier: Apache-2.0
// sim/view/entered_machine.hpp - a simulated machine for the time of one command: its kernel's output, and its library.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::sim {

struct EnteredMachine {
  std::string kernel_view;     ///< folder with sys/, proc/ and dev/
  std::string kernel_release;  ///< of the machine's running kernel
  /// "NAME=VALUE" for programs that load the simulated libnvidia-ml.so.1. Empty: no GPU is simulated.
  std::vector<std::string> environment;
  std::string note;                   ///< why no GPU is simulated
  std::string driver;                 ///< the profile's driver version; empty: the user chose it
  std::vector<std::string> machines;  ///< folders with the machine's state
};

/// Creates the machine. Its state is written when the first program opens the library: below the root, where later
/// commands find it, or for this command alone when the root is this machine's.
/// @param profile  in the form of read_sim_profile()
/// @param folder   for this command alone
/// @param root     host path, "/" for this machine's
/// Errors: those of open_sim_view().
Result<EnteredMachine> enter_machine(const std::string& profile, const std::string& folder, const std::string& root);

/// Updates the kernel's view to the machine's current state, and its driver to that of the root, unless its version was
/// set.
Status follow_root(const EnteredMachine& machine, const std::string& root);

}  // namespace slipway::sim
