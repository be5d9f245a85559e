// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/feature_file.hpp - the file that Node Feature Discovery reads: replaced as a whole, and only when it
// changes.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::gfd {

/// Makes the file hold exactly `text`, mode 0644, with its folders. A reader sees the old content or the new, never a
/// part. The new file comes into being outside the folder, whose watchers then see one change only.
/// @return false when it held that text already and nothing was written
/// Errors: of the file system; the old content is then still there
Result<bool> replace_file(const std::string& path, const std::string& text);

}  // namespace slipway::gfd
