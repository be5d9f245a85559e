// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/proc_files.hpp - parsers for the driver's files below /proc/driver/nvidia.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nvidia/flavour.hpp"

namespace slipway::nvidia {

/// What /proc/driver/nvidia/version says.
struct ProcVersion {
  std::string version;  ///< "535.261.03"
  Flavour flavour = Flavour::proprietary;
  std::string compiler;  ///< second line after "GCC version:", trimmed; may be empty
};

/// Nothing when the text has no NVRM line with a version in it.
std::optional<ProcVersion> parse_proc_version(std::string_view text);

/// "Device Minor:" of /proc/driver/nvidia/gpus/ADDRESS/information.
std::optional<unsigned> parse_gpu_minor(std::string_view information);

}  // namespace slipway::nvidia
