// SPDX-License-Identifier: Apache-2.0
// artifact/oci/trust.hpp - what may be used: what a pinned digest names, or anything under `trust: unsigned`.
//
// A digest vouches for the manifest it names, through an index for those it lists, and through a manifest for its
// layers. The check is made twice: when a source is read for planning, so that the plan already says what is missing,
// and for every layer before it is fetched or staged, which is what counts.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Errors: `denied` when the source is not trusted and neither it nor `locked` pins a digest; lists what could be
/// pinned.
Status require_pinned(Origin& origin, const Source& source, const std::string& locked);

/// Every one of `layers` must be listed, with its size, by a manifest that the pinned digest leads to.
/// @param locked  a digest that the lock names; the source's own digest goes before it
/// Errors: `denied` as above, or naming the layer that is not listed; those of reading manifests.
Status require_trusted(Origin& origin, const Source& source, const std::string& locked,
                       const std::vector<Descriptor>& layers, const Reporter& reporter);

}  // namespace slipway::artifact
