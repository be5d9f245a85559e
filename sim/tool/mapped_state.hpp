// SPDX-License-Identifier: Apache-2.0
// sim/tool/mapped_state.hpp - the state file of a simulated machine, mapped and locked while it is changed from
// outside.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// FOLDER/machine, which other programs may be using: their calls wait during this object's lifetime.
class MappedMachine {
 public:
  /// Errors: `not_found`; `invalid` not a state of this version; those of the file system.
  static Result<MappedMachine> open(const std::string& folder);
  MappedMachine(MappedMachine&& other) noexcept;
  ~MappedMachine();
  MappedMachine(const MappedMachine&) = delete;
  MappedMachine& operator=(const MappedMachine&) = delete;
  sim::Machine& machine() { return *machine_; }

 private:
  MappedMachine(int file, sim::Machine* machine) : file_(file), machine_(machine) {}
  int file_;
  sim::Machine* machine_;
};

}  // namespace slipway::sim
