// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/memory.hpp - GPUs that containers share by time-slicing and whose memory is exhausted: by whom,
// and what would divide it.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

namespace slipway::deviceplugin {

struct Shortage {
  std::string uuid;        ///< of the GPU or MIG device
  bool exhausted = false;  ///< false: there is more left than that, and less than twice as much
  std::string text;        ///< what is left, who has how much
  std::string remedy;
};

/// Exhausted is what has less than a twentieth of its memory left, or less than 512 MiB, which a process needs to
/// start. Only what several may have by time-slicing counts. @param status  of the service (state_file.hpp)
std::vector<Shortage> memory_shortages(const Json& status);

/// A failed finding "deviceplugin.memory" for each that is exhausted.
void add_memory_findings(const Json& status, Findings& findings);

}  // namespace slipway::deviceplugin
