// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/unit.hpp - the systemd unit of an MPS control daemon: what it may do, and no more.
#pragma once

#include <string>
#include <vector>

namespace slipway::deviceplugin {

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

/// "MemoryMax=8G" and so on, each for systemd-run's --property=. @param newest  also those that systemd 239 does not
/// know: systemd-run, unlike a unit file, is refused for one that systemd does not know
std::vector<std::string> properties_of(const MpsUnit& unit, bool newest = true);

/// What lets it open the devices whose numbers the kernel has given by now.
std::vector<std::string> device_properties();

/// The words that have systemd run it.
std::vector<std::string> systemd_run_words(const MpsUnit& unit, bool newest = true);

/// The same as the text of a unit file: for `systemd-analyze security`.
std::string unit_file_text(const MpsUnit& unit);

}  // namespace slipway::deviceplugin
