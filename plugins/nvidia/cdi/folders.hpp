// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/folders.hpp - the CDI specs that engines find on a host, and those that they refuse.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// Returns /etc/cdi and /var/run/cdi; a later folder overrides earlier ones.
std::vector<std::string> default_spec_folders();

/// Returns the files directly in the folder that container engines read as specs: those ending in .json and .yaml.
std::vector<std::string> spec_files(const Host& host, const std::string& folder);

/// Two files of one folder that define the same devices: container engines then ignore these devices, in every folder.
struct SpecConflict {
  std::string first;
  std::string second;
  std::vector<std::string> devices;  ///< "nvidia.com/gpu=0"
};

/// Returns "A and B both have nvidia.com/gpu=0 and 16 other devices".
std::string to_text(const SpecConflict& conflict);
/// Returns the remedy for the conflict.
std::string remedy_for(const SpecConflict& conflict);

struct SpecFolders {
  std::map<std::string, std::string> devices;  ///< "nvidia.com/gpu=0" to the file that defines it
  std::vector<SpecConflict> conflicts;
  std::vector<Error> problems;  ///< files that cannot be read
};

/// Reads the specs of the folders as container engines do. Missing folders count as empty.
SpecFolders read_spec_folders(const Host& host, const std::vector<std::string>& folders);

}  // namespace slipway::nvidia::cdi
