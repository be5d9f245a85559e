// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/machine/causes.hpp - what findings of several components come from: Finding::cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

namespace slipway::nvidia {

/// The loaded driver: the name of the finding of the component driver about it.
inline constexpr const char* kDriverCause = "driver.loaded";

/// "gpu/0000:65:00.0", of a finding about the health of that GPU. @param address  in any spelling; empty: ""
std::string gpu_cause(std::string_view address);
/// "gpu/0000:65:00.0/lost", of what comes of it when it does not answer.
std::string lost_gpu_cause(std::string_view address);

/// lost_gpu_cause() of the first GPU that the driver should show and that is not among those that answer, in any
/// spelling; empty: all answer.
std::string silent_gpu_cause(const Host& host, const std::vector<std::string>& answering);

/// The address of the first GPU that a text names: "GPU 3 (0000:65:00.0)"; empty: it names none.
std::string gpu_address_in(std::string_view text);

/// kDriverCause where the text is of an answer of NVML's that no driver runs, or another one than its library is of.
std::string nvml_cause(std::string_view text);

/// Which versions do not fit: ": the library is of driver 550.90.07, the loaded module of 535.261.03"; what is not
/// known is left out. @param library  the file's path after links, which ends with the version
std::string mismatch_text(std::string_view library, std::string_view module_version);

/// The findings, with that cause for those of a name that fail or warn and have none.
Findings with_cause(const Findings& findings, std::string_view name, const std::string& cause);

}  // namespace slipway::nvidia
