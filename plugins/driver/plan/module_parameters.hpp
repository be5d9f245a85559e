// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/module_parameters.hpp - the names of the driver's module parameters, and the modprobe.d line of
// some.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::driver {

using ModuleParameters = std::map<std::string, std::map<std::string, std::string>>;

/// Is it a parameter that some branch of the driver has? Names that belong to a family ("uvm_perf_…") count.
bool is_known_parameter(std::string_view module, std::string_view name);

/// A sentence for each parameter that is not known, with the nearest known one. The kernel ignores such a parameter
/// with no more than a line in its log.
std::vector<std::string> parameter_warnings(const ModuleParameters& parameters);

/// `options nvidia NVreg_A=1 NVreg_B="x y"` lines, sorted by module and name.
std::string options_lines(const ModuleParameters& parameters);

/// Mode of device nodes: NVreg_DeviceFileMode where it is set and readable (decimal, 0x… or 0…), else `otherwise`.
unsigned device_file_mode(const ModuleParameters& parameters, unsigned otherwise);

/// NVreg_ModifyDeviceFiles=0: nobody but the administrator makes the nodes.
bool nodes_are_left_alone(const ModuleParameters& parameters);

}  // namespace slipway::driver
