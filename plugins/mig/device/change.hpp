// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/change.hpp - makes the GPUs what they are to be, side by side in one session of NVML; after a
// failure all of them are again what they were.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "mig/device/target.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

struct Wanted {
  Target target;
  std::optional<Gpu> known;  ///< its profiles need not be asked again
};

/// What becomes of the others while a GPU is in use.
enum class WhenBusy { undo_all, go_on };

/// Destroys what differs and creates what is missing. Holders of an instance that has to go, or of a GPU whose mode has
/// to change, keep it waiting before anything is changed. A mode that only a reset brings into force stays requested:
/// `reboot_required`. Where the driver resets GPUs for their mode, NVML is opened anew.
///
/// @return one outcome for each, in their order
/// Errors: those of NVML; the details tell what could not be put back. `busy` under `undo_all`.
Result<std::vector<Outcome>> change_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Wanted>& wanted, WhenBusy busy);

}  // namespace slipway::mig
