// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/memory.hpp - GPUs that containers share by time-slicing and whose memory is exhausted: the
// containers, and the settings that would divide it.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

namespace slipway::deviceplugin {

struct Shortage {
  std::string uuid;        ///< of the GPU or MIG device
  bool exhausted = false;  ///< false: there is more left than that, but less than twice as much
  std::string text;        ///< the memory that is left, and each user's share
  std::string remedy;
};

/// A device is exhausted when less than a twentieth of its memory is left, or less than 512 MiB, which a process needs
/// to start. Only devices shared by time-slicing count. @param status  of the service (state_file.hpp)
std::vector<Shortage> memory_shortages(const Json& status);

/// Adds a failed finding "deviceplugin.memory" for each exhausted device.
void add_memory_findings(const Json& status, Findings& findings);

}  // namespace slipway::deviceplugin
