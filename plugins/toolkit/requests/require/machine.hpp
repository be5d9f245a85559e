// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/require/machine.hpp - the driver and the GPUs of the machine, as far as images require them:
// from the files of the driver and the kernel, without NVML.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/requirement.hpp"

namespace slipway::shim {

/// Returns the GPUs with device nodes in the edits, in the order of their minor numbers; only the driver if there are
/// none. The CUDA version comes from a hook in the edits (--host-cuda-version), else that of the driver's branch.
/// @param root  prefix of /proc and /sys; "": this machine
std::vector<GpuFacts> read_gpus(const nvidia::cdi::Edits& edits, const std::string& root);

/// Checks all requirements of the container for each of its GPUs; none if the settings have disable-require.
/// @param where  the container, for errors
/// @return warnings about requirements that could not be decided
/// Errors: those of check_requirement(); `invalid` they have more than kLongestRequirement bytes together.
Result<std::vector<std::string>> check_requirements(const Request& request, const nvidia::cdi::Edits& edits,
                                                    const Config& config, const std::string& root,
                                                    const std::string& where);

}  // namespace slipway::shim
