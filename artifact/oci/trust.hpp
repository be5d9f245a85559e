// SPDX-License-Identifier: Apache-2.0
// artifact/oci/trust.hpp - decides which content may be used: that of a pinned digest, or any with `trust: unsigned`.
//
// A trusted digest makes its manifest trusted, an index the manifests that it lists, and a manifest its layers. The
// check is made twice: when a source is read for planning, so that the plan already reports what is missing, and for
// every layer before it is fetched or staged, which is the decisive one.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Errors: `denied` when the source is not trusted and neither it nor `locked` pins a digest; lists digests that could
/// be pinned.
Status require_pinned(Origin& origin, const Source& source, const std::string& locked);

/// Checks that each of `layers` is listed, with its size, by a manifest reachable from the pinned digest.
/// @param locked  a digest from the lock; the source's own digest takes precedence
/// Errors: `denied` as above, or naming the layer that is not listed; those of reading manifests.
Status require_trusted(Origin& origin, const Source& source, const std::string& locked,
                       const std::vector<Descriptor>& layers, const Reporter& reporter);

}  // namespace slipway::artifact
