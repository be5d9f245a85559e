// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/programs.hpp - finds the driver's programs: ELF files, not scripts around them.
#pragma once

#include <string>
#include <vector>

#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {

struct DriverPrograms {
  std::vector<Found> files;        ///< each under the path of containers
  std::vector<std::string> notes;  ///< programs of which there is a script alone
};

/// Programs by their names, each from the first folder that has it: beside the driver's libraries
/// (/usr/local/nvidia/bin for /usr/local/nvidia/lib64), the usual folders, then `more_folders`. A script is passed
/// over: what it starts is not in the container.
/// @param library_folders  where the driver's libraries were found
DriverPrograms find_driver_programs(const Host& driver, const std::vector<std::string>& names,
                                    const std::vector<std::string>& library_folders,
                                    const std::vector<std::string>& more_folders);

/// The absolute folders in a value of PATH.
std::vector<std::string> folders_of_path(const char* path);

}  // namespace slipway::toolkit
