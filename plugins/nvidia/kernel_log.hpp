// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kernel_log.hpp - the kernel's messages since the boot, as far as they can still be read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// From the host's own dmesg, else its journal; oldest first, without time stamps. Nothing when neither answers: a root
/// that is not live, or a kernel that hides its log.
std::optional<std::vector<std::string>> read_kernel_log(const Host& host);

/// A line without the "[   12.345678] " that dmesg puts in front.
std::string_view without_time(std::string_view line);

}  // namespace slipway::nvidia
