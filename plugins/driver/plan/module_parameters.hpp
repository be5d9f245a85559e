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

/// True for a parameter that some branch of the driver has. Members of a family ("uvm_perf_…") count.
bool is_known_parameter(std::string_view module, std::string_view name);

/// Returns a sentence for each unknown parameter, with the nearest known one. The kernel ignores such a parameter with
/// only a line in its log.
std::vector<std::string> parameter_warnings(const ModuleParameters& parameters);

/// Returns `options nvidia NVreg_A=1 NVreg_B="x y"` lines, sorted by module and name.
std::string options_lines(const ModuleParameters& parameters);

/// Returns the mode of device nodes: NVreg_DeviceFileMode if it is set and valid (decimal, 0x… or 0…), else
/// `otherwise`.
unsigned device_file_mode(const ModuleParameters& parameters, unsigned otherwise);

/// True for NVreg_ModifyDeviceFiles=0: only the administrator creates the nodes.
bool nodes_are_left_alone(const ModuleParameters& parameters);

}  // namespace slipway::driver
