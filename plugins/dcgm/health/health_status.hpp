// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/health_status.hpp - DCGM_EXP_GPU_HEALTH_STATUS: the health of a GPU by the health rules, in the
// form of DCGM's health watches.
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
  std::string_view error = "DCGM_FR_OK";  ///< DCGM's name of the error
};

/// Returns all watches in DCGM's order, each with its worst reason. An XID belongs to the watch that DCGM gives it, a
/// counter to that of its field; anything that DCGM does not know belongs to "ALL".
/// @param reasons  the worst first
/// @param answers  true: the GPU can be read; false: "DRIVER" fails
std::vector<WatchStatus> watch_statuses(const std::vector<Reason>& reasons, const nvidia::health::Rules& rules,
                                        bool answers);

}  // namespace slipway::dcgm
