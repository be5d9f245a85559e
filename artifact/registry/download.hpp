// SPDX-License-Identifier: Apache-2.0
// artifact/registry/download.hpp - brings one blob into the cache, from where an earlier attempt left off.
#pragma once

#include <slipway/result.hpp>

#include "artifact/oci/descriptor.hpp"
#include "artifact/progress.hpp"
#include "artifact/registry/cache.hpp"
#include "artifact/registry/client.hpp"

namespace slipway::artifact {

/// Downloads what is missing of `blob`, checks size and digest, and completes it. Waits for another process that is
/// bringing the same blob. Nothing is done when the cache has it.
/// @return  bytes that came over the network
/// Errors: `not_found` the repository lacks it; `corrupt` wrong digest or size (the partial file is removed);
/// `unreachable` the attempts are used up (the partial file stays for the next time); `denied`, `no_space`, `io`.
Result<std::uint64_t> download(RegistryClient& client, const BlobCache& cache, const Descriptor& blob,
                               Progress& progress);

}  // namespace slipway::artifact
