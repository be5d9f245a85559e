// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/require/machine.hpp - the driver and the GPUs of the machine, as far as images require
// something of them: from the files of the driver and the kernel, without NVML.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/requirement.hpp"

namespace slipway::shim {

/// The GPUs whose device nodes the edits have, in the order of their minor numbers; the driver alone where they have
/// none. The CUDA version is that of a hook of the edits (--host-cuda-version), else that of the driver's branch.
/// @param root  in front of /proc and /sys; "": this machine
std::vector<GpuFacts> read_gpus(const nvidia::cdi::Edits& edits, const std::string& root);

/// All requirements of the container, for each GPU that it gets; none where the settings have disable-require.
/// @param where  the container, for errors
/// @return warnings, of what could not be told
/// Errors: those of check_requirement(); `invalid` they have more than kLongestRequirement bytes together.
Result<std::vector<std::string>> check_requirements(const Request& request, const nvidia::cdi::Edits& edits,
                                                    const Config& config, const std::string& root,
                                                    const std::string& where);

}  // namespace slipway::shim
