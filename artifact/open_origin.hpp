// SPDX-License-Identifier: Apache-2.0
// artifact/open_origin.hpp - opens whatever a source names.
#pragma once

#include <memory>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Errors: those of open_local(); `invalid` the repository's name is malformed; `denied` plain HTTP to a far host.
Result<std::unique_ptr<Origin>> open_origin(const Source& source, const OriginContext& context);

}  // namespace slipway::artifact
