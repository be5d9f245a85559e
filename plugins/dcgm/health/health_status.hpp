// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/health_status.hpp - DCGM_EXP_GPU_HEALTH_STATUS: what the health rules say of a GPU, as DCGM's
// health watches say it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dcgm/health/record.hpp"

namespace slipway::dcgm {

/// One of DCGM's watches of a GPU.
struct WatchStatus {
  std::string_view watch;                 ///< "MEM", "ALL"
  int value = 0;                          ///< 0 pass, 10 warn, 20 fail
  std::string_view error = "DCGM_FR_OK";  ///< what DCGM calls it
};

/// All watches, in DCGM's order; of several reasons in one watch the worst. An XID is in the watch where DCGM has it, a
/// counter in that of its field; what DCGM does not know is in "ALL".
/// @param reasons  the worst first
/// @param answers  the GPU can be read, else "DRIVER" fails
std::vector<WatchStatus> watch_statuses(const std::vector<Reason>& reasons, const nvidia::health::Rules& rules,
                                        bool answers);

}  // namespace slipway::dcgm
