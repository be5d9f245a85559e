// SPDX-License-Identifier: Apache-2.0
// app/report/tar.hpp - a small tar file (POSIX ustar) of texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <slipway/result.hpp>

namespace slipway::app {

/// Returns the bytes of a tar file with these files, in a folder of that name. @param mtime  for all files, seconds
/// since 1970
/// Errors: `invalid` for a path that is too long for the format (255 bytes, each name 100).
Result<std::string> tar_of(const std::string& folder, const std::map<std::string, std::string>& files,
                           std::int64_t mtime);

}  // namespace slipway::app
