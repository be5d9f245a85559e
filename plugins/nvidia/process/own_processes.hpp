// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/own_processes.hpp - which processes are slipway's own.
#pragma once

#include <set>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// The processes of slipway itself: this one and the apply that it works for, and the services with a control socket,
/// each with its children. They release the driver when they are quiesced.
class OwnProcesses {
 public:
  explicit OwnProcesses(const Host& host);
  bool contains(unsigned pid) const;

 private:
  const Host& host_;
  std::set<unsigned> roots_;
};

}  // namespace slipway::nvidia
