// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/spec_folder.hpp - the folders in which engines look for CDI specs, and what is wrong with them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::toolkit {

/// /etc/cdi and /var/run/cdi; a later one outranks those before it.
std::vector<std::string> default_spec_folders();

struct SpecFolders {
  std::map<std::string, std::string> devices;  ///< "nvidia.com/gpu=0" to the file that has it
  std::vector<std::string> conflicts;          ///< "A and B both have nvidia.com/gpu=0"; engines refuse such devices
  std::vector<Error> problems;                 ///< files that cannot be read
};

/// Reads files ending in .json, .yaml directly in the folders, as engines do. Folders that are not there are empty.
SpecFolders read_spec_folders(const Host& host, const std::vector<std::string>& folders);

}  // namespace slipway::toolkit
