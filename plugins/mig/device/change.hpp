// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/change.hpp - gives the GPUs their target layouts, side by side in one session of NVML; after a
// failure all of them get their former layouts back.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "mig/device/holders.hpp"
#include "mig/layout/target.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

struct Wanted {
  Target target;
  Gpu known;                      ///< as read before: its profiles are not read again
  nvmlDevice_t device = nullptr;  ///< in this session of NVML
};

/// The treatment of other GPUs while one is in use.
enum class WhenBusy { undo_all, go_on };

struct HowToChange {
  WhenBusy busy = WhenBusy::undo_all;
  bool resets = true;       ///< a GPU whose mode waits for a reset is reset, if possible
  std::string driver_root;  ///< for that
};

/// Destroys instances that differ and creates missing ones. It does not look for users before (find_holders() does); if
/// an instance turns out to be in use, the former layout is restored and the outcome is `waiting`. A GPU whose mode
/// needs a reset is reset; if that is impossible, the mode stays requested: `reboot_required`. NVML is released for a
/// reset, and opened again after it.
///
/// @return one outcome for each, in their order
/// Errors: those of NVML; the details list what could not be restored. `busy` under `undo_all`.
Result<std::vector<Outcome>> change_gpus(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Wanted>& wanted,
                                         const HowToChange& how);
/// The error for a GPU in use, if the caller does not wait.
Error in_use(const Outcome& outcome);

}  // namespace slipway::mig
