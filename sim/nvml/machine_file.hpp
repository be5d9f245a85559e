// SPDX-License-Identifier: Apache-2.0
// sim/nvml/machine_file.hpp - the mapped state file, as the simulated library finds and locks it.
#pragma once

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Finds the state file and maps it, unless it is mapped already. Called with the machine locked.
///
/// Looks in $SLIPWAY_SIM (a folder), else beside the library, else in /run/slipway/sim of the library's tree. With
/// $SLIPWAY_SIM_FIRST (a file) the state is copied from that file if it is missing or was created from another profile.
/// @return null: there is none
Machine* open_machine();
/// Returns the machine of the last open_machine(); null before.
Machine* opened_machine();
/// True when the file is read-only: calls are not counted, and changes return NO_PERMISSION.
bool machine_read_only();

/// Locks the machine for one call: other threads and processes wait.
class MachineLock {
 public:
  MachineLock();
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;
  /// Unlocks the machine for a while.
  void unlock();
  void lock();

 private:
  bool held_ = false;
};

/// Keeps the machine mapped during a call, even if another one replaces it. Begins and ends with the machine locked.
class MachineUse {
 public:
  explicit MachineUse(const Machine* machine);  ///< null: does nothing
  ~MachineUse();
  MachineUse(const MachineUse&) = delete;
  MachineUse& operator=(const MachineUse&) = delete;

 private:
  unsigned uses_;
};

/// State of the process: NVML counts its initialisations.
struct ProcessState {
  unsigned initialisations = 0;
  bool opened_before = false;  ///< the first initialisation takes the longest
};
ProcessState& process_state();

/// CLOCK_REALTIME in nanoseconds.
std::int64_t now_ns();

}  // namespace slipway::sim
