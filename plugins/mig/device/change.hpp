// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/change.hpp - makes the GPUs what they are to be, side by side in one session of NVML; after a
// failure all of them are again what they were.
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
  Gpu known;                      ///< as it was read before: its profiles need not be asked again
  nvmlDevice_t device = nullptr;  ///< in this session of NVML
};

/// What becomes of the others while a GPU is in use.
enum class WhenBusy { undo_all, go_on };

struct HowToChange {
  WhenBusy busy = WhenBusy::undo_all;
  bool resets = true;       ///< a GPU whose mode waits for a reset is reset, where that can be done
  std::string driver_root;  ///< for that
};

/// Destroys what differs and creates what is missing. It asks nobody before: who uses what has to go is found by
/// find_holders(), and what destroying finds in use brings the former layout back and is `waiting`. A GPU whose mode
/// only a reset brings into force is reset; where it cannot be, the mode stays requested: `reboot_required`. NVML is
/// released for a reset, and opened anew after it.
///
/// @return one outcome for each, in their order
/// Errors: those of NVML; the details tell what could not be put back. `busy` under `undo_all`.
Result<std::vector<Outcome>> change_gpus(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Wanted>& wanted,
                                         const HowToChange& how);
/// What a GPU in use is to somebody who does not wait.
Error in_use(const Outcome& outcome);

}  // namespace slipway::mig
