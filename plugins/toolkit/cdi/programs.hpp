// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/programs.hpp - finds the driver's programs: ELF files, not scripts around them.
#pragma once

#include <string>
#include <vector>

#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {

struct DriverPrograms {
  std::vector<Found> files;        ///< each under its path in containers
  std::vector<std::string> notes;  ///< programs that exist only as a script
};

/// Finds programs by name, each in the first folder that has it: beside the driver's libraries (/usr/local/nvidia/bin
/// for /usr/local/nvidia/lib64), the usual folders, then `more_folders`. Scripts are ignored: the program that they
/// start is not in the container.
/// @param library_folders  folders of the driver's libraries
DriverPrograms find_driver_programs(const Host& driver, const std::vector<std::string>& names,
                                    const std::vector<std::string>& library_folders,
                                    const std::vector<std::string>& more_folders);

/// Returns the absolute folders in a value of PATH.
std::vector<std::string> folders_of_path(const char* path);

}  // namespace slipway::toolkit
