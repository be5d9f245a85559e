// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/proc_files.hpp - the driver's entries in /proc and /dev: its files, and its character devices with
// names, majors, minors, modes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/action.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::nvidia {

/// The contents of /proc/driver/nvidia/version.
struct ProcVersion {
  std::string version;  ///< "535.261.03"
  Flavour flavour = Flavour::proprietary;
  std::string compiler;  ///< text after "GCC version:" in the second line, trimmed; may be empty
};

/// Empty when the text has no NVRM line with a version.
std::optional<ProcVersion> parse_proc_version(std::string_view text);

/// Reads "Device Minor:" in /proc/driver/nvidia/gpus/ADDRESS/information.
std::optional<unsigned> parse_gpu_minor(std::string_view information);
/// Reads "GPU UUID:" in the same file; empty if it is missing, and "GPU-????…" before the GPU was used.
std::string parse_gpu_uuid(std::string_view information);
/// Reads "Model:" in the same file: the product's name; empty if it is missing.
std::string parse_gpu_model(std::string_view information);

inline constexpr unsigned kMajor = 195;         ///< fixed: nvidiaN, nvidiactl, nvidia-modeset
inline constexpr unsigned kControlMinor = 255;  ///< /dev/nvidiactl
inline constexpr unsigned kModesetMinor = 254;  ///< /dev/nvidia-modeset
inline constexpr unsigned kMaxGpuMinor = 247;   ///< 248-253 are reserved
inline constexpr unsigned kNodeMode = 0666;     ///< the driver's default (NVreg_DeviceFileMode): jobs need no group
                                                ///< membership

/// Returns the nodes of every machine with the driver, by the module that serves them: nvidiactl, nvidia-uvm and
/// -tools, modeset.
std::vector<action::DeviceNode> control_nodes(const std::vector<std::string>& modules, unsigned mode = kNodeMode);
/// /dev/nvidia<minor>.
action::DeviceNode gpu_node(unsigned minor, unsigned mode = kNodeMode);

}  // namespace slipway::nvidia
