// SPDX-License-Identifier: Apache-2.0
// artifact/oci/layout.hpp - opens OCI layouts: as a folder, or packed into one tar file (a bundle).
#pragma once

#include <memory>
#include <string>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// A folder with oci-layout, index.json and blobs/. Errors: `invalid` it is no layout; `unsupported` another version.
Result<std::unique_ptr<Origin>> open_layout(const std::string& path);

/// An uncompressed tar file of such a folder. Blobs are read from inside it. Errors: `invalid` it is no such file.
Result<std::unique_ptr<Origin>> open_bundle(const std::string& path);

}  // namespace slipway::artifact
