// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/flavour.hpp - the two kinds of NVIDIA kernel modules, and those that a set of GPUs can use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

enum class Flavour { open, proprietary };

std::string_view to_string(Flavour flavour);
std::optional<Flavour> parse_flavour(std::string_view text);

/// The flavours that fit a set of GPUs and one driver branch.
struct FlavourChoice {
  std::vector<Flavour> allowed;       ///< best first; empty: this branch supports none of the GPUs
  std::string reason;                 ///< one clause: "H100-SXM (hopper) takes both, open is preferred"
  std::vector<std::string> warnings;  ///< GPUs that stay unused with the choice, each with the reason
};

/// NVIDIA's rule (`nvidia-installer --print-recommended-kernel-module-type`), from a table instead of a PCI scan: a GPU
/// that requires the open modules decides for all; else one that they do not support decides for proprietary; else both
/// are valid and open is preferred. GPUs that `branch` does not support are ignored. `gpus` must not be empty.
FlavourChoice choose_flavour(const std::vector<Gpu>& gpus, unsigned branch);

}  // namespace slipway::nvidia
