// SPDX-License-Identifier: Apache-2.0
// artifact/registry/registry_origin.hpp - a registry as an artifact source, with the cache; and opens any other kind of
// source.
#pragma once

#include <memory>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"
#include "artifact/registry/client.hpp"

namespace slipway::artifact {

/// Uses the network only for content that the cache lacks.
/// Errors: `invalid` the repository's name is malformed, or there is no cache folder.
Result<std::unique_ptr<Origin>> open_registry(const Source& source, const OriginContext& context,
                                              const ClientSettings& settings = {});

/// Errors: those of open_local(); `invalid` the repository's name is malformed; `denied` plain HTTP to another machine.
Result<std::unique_ptr<Origin>> open_origin(const Source& source, const OriginContext& context);

}  // namespace slipway::artifact
