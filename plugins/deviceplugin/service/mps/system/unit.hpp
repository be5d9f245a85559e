// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/system/unit.hpp - the systemd units that MPS needs, with the least privileges.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace slipway::deviceplugin {

/// A transient unit: it exists from the device plugin's request to systemd until its process ends. A restart or the end
/// of the service's unit does not affect it.
struct TransientUnit {
  std::string name;
  std::string description;
  std::vector<std::string> environment;  ///< "NAME=value"
  std::vector<std::string> argv;
  std::vector<std::string> properties;  ///< "MemoryMax=8G" and so on, each for systemd-run's --property=
  /// Properties that systemd 239 does not know. systemd-run fails on an unknown property, unlike a unit file.
  std::vector<std::string> newest;
};

/// The MPS control daemon of a resource.
struct MpsUnit {
  std::string resource;                  ///< "nvidia.com/gpu"
  std::vector<std::string> environment;  ///< "NAME=value"
  std::vector<std::string> argv;
  std::string pipe_folder;
  std::string log_folder;
  std::string shm_folder;

  /// "slipway-mps-nvidia.com-gpu.service"
  std::string name() const;
};
TransientUnit daemon_unit(const MpsUnit& unit);

/// The unit that empties a folder that was moved aside. It needs privileges over other users' files, so it may write to
/// that folder only and has a time limit. Each folder has its own unit: a process that is blocked in the kernel blocks
/// only its own unit.
/// @param program  deviceplugin-empty
/// @param folder   MPSROOT/nvidia.com/.gpu.aside-0; the unit is slipway-mps-aside-nvidia.com-gpu.aside-0.service
TransientUnit emptying_unit(const std::string& program, const std::string& folder);

/// The longest run time of such a unit, unless its process is blocked in the kernel.
inline constexpr std::chrono::seconds kEmptyingLimit{300};
inline constexpr std::chrono::seconds kEmptyingStopLimit{10};

/// Returns properties that let a daemon open the devices, by the numbers that the kernel has assigned by now.
std::vector<std::string> device_properties();

/// Returns the systemd-run command line for the unit.
std::vector<std::string> systemd_run_words(const TransientUnit& unit, bool newest = true);

}  // namespace slipway::deviceplugin
