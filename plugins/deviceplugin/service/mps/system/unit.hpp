// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/system/unit.hpp - the systemd units that MPS needs, and what each may do, and no
// more.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace slipway::deviceplugin {

/// A unit that there is from when the device plugin asks systemd for it until its process ends. Neither a restart of
/// the service's unit nor the end of its process touches it.
struct TransientUnit {
  std::string name;
  std::string description;
  std::vector<std::string> environment;  ///< "NAME=value"
  std::vector<std::string> argv;
  std::vector<std::string> properties;  ///< "MemoryMax=8G" and so on, each for systemd-run's --property=
  /// Those that systemd 239 does not know: systemd-run, unlike a unit file, is refused for one that systemd does not
  /// know.
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

/// Empties a folder that was moved aside with what pods left in it, which takes power over files of others: it may
/// write to that folder and nowhere else, and has a limit of time. Each folder has a unit of its own: a process that
/// the kernel holds in one of them keeps its unit, and no other one.
/// @param program  deviceplugin-empty
/// @param folder   MPSROOT/nvidia.com/.gpu.aside-0: of slipway-mps-aside-nvidia.com-gpu.aside-0.service
TransientUnit emptying_unit(const std::string& program, const std::string& folder);

/// The longest that such a unit goes on, unless the kernel holds its process.
inline constexpr std::chrono::seconds kEmptyingLimit{300};
inline constexpr std::chrono::seconds kEmptyingStopLimit{10};

/// What lets a daemon open the devices whose numbers the kernel has given by now.
std::vector<std::string> device_properties();

/// The words that have systemd run it.
std::vector<std::string> systemd_run_words(const TransientUnit& unit, bool newest = true);

}  // namespace slipway::deviceplugin
