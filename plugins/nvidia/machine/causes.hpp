// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/machine/causes.hpp - the common causes of findings of several components: Finding::cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

namespace slipway::nvidia {

/// The loaded driver: the name of the component driver's finding about it.
inline constexpr const char* kDriverCause = "driver.loaded";

/// Returns "gpu/0000:65:00.0", the cause of findings about the health of that GPU. @param address  in any spelling;
/// empty: ""
std::string gpu_cause(std::string_view address);
/// Returns "gpu/0000:65:00.0/lost", the cause of problems that follow when the GPU does not answer.
std::string lost_gpu_cause(std::string_view address);

/// Returns lost_gpu_cause() of the first GPU that the driver should show and that is not among the answering ones, in
/// any spelling; empty: all answer.
std::string silent_gpu_cause(const Host& host, const std::vector<std::string>& answering);

/// Returns the address of the first GPU in a text: "GPU 3 (0000:65:00.0)"; empty if the text names no GPU.
std::string gpu_address_in(std::string_view text);

/// Returns kDriverCause if the text is an NVML error that no driver runs, or that its version differs from the
/// library's.
std::string nvml_cause(std::string_view text);

/// Returns the versions that do not match: ": the library is of driver 550.90.07, the loaded module of 535.261.03";
/// leaves out unknown ones. @param library  the file's path after links, which ends with the version
std::string mismatch_text(std::string_view library, std::string_view module_version);

/// Sets a cause for the failed findings and warnings of a name that have no cause yet.
Findings with_cause(const Findings& findings, std::string_view name, const std::string& cause);

}  // namespace slipway::nvidia
