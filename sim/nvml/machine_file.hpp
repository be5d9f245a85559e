// SPDX-License-Identifier: Apache-2.0
// sim/nvml/machine_file.hpp - the mapped state file, as the simulated library finds and locks it.
#pragma once

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Finds the state file and maps it, unless it is mapped already. With the machine locked.
///
/// Found in $SLIPWAY_SIM (a folder), else beside the library, else in /run/slipway/sim of the tree that the library is
/// in. With $SLIPWAY_SIM_FIRST (a file) the state is made as a copy of that one where it is missing or was made from
/// another profile. @return null: there is none
Machine* open_machine();
/// The machine that open_machine() found last; null before.
Machine* opened_machine();
/// The file may only be read: nothing is counted, and what changes it answers NO_PERMISSION.
bool machine_read_only();

/// Holds the machine for one call: other threads of this process and other processes wait.
class MachineLock {
 public:
  MachineLock();
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;
  /// Lets others in for a while.
  void unlock();
  void lock();

 private:
  bool held_ = false;
};

/// While a call uses the mapped machine it stays mapped, also where another one takes its place. Begins and ends with
/// the machine locked.
class MachineUse {
 public:
  explicit MachineUse(const Machine* machine);  ///< null: no use
  ~MachineUse();
  MachineUse(const MachineUse&) = delete;
  MachineUse& operator=(const MachineUse&) = delete;

 private:
  unsigned uses_;
};

/// What a process remembers: NVML counts its initialisations.
struct ProcessState {
  unsigned initialisations = 0;
  bool opened_before = false;  ///< the first initialisation is the one that takes long
};
ProcessState& process_state();

/// CLOCK_REALTIME in nanoseconds.
std::int64_t now_ns();

}  // namespace slipway::sim
