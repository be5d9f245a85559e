// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/cuda_version.hpp - whether an image's own CUDA compatibility libraries are better than
// the host's driver.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::hook {

using Version = std::optional<std::vector<unsigned>>;  ///< nothing: it is not known

/// "535.261.03" as {535, 261, 3}, which compares as versions do; nothing for a text that is no version.
Version parse_version(std::string_view text);

struct HostVersions {
  Version driver;
  Version cuda;
};

/// Whether an image's libcuda of the version `compat` is newer than the host's, and works on the host's driver.
/// @param note  what read_note() gave of it: JSON, or something else
bool is_better_cuda(const HostVersions& host, const Version& compat, const std::string& note);

}  // namespace slipway::hook
