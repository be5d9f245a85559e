// SPDX-License-Identifier: Apache-2.0
// plugins/mig/config/known_products.hpp - the MIG devices that NVIDIA publishes for its products, for drivers that tell
// them only while MIG is enabled (branch 535).
//
// Source: NVIDIA MIG User Guide (R580), supported profiles; PCI ids as in the configs that ship with nvidia-mig-parted.
#pragma once

#include <vector>

#include "mig/layout/gpu.hpp"
#include "mig/model/device_id.hpp"
#include "mig/profile/profile.hpp"

namespace slipway::mig {

/// How many MIG devices of a profile an empty GPU has room for.
struct Offer {
  Profile profile;
  unsigned count = 0;
};

/// Empty: nothing is published for that chip.
std::vector<Offer> published_offers(const DeviceId& id);
/// Of any product that the table has.
bool is_published(const Profile& profile);
/// What the GPU tells itself; else what is published.
std::vector<Offer> offers_of(const Gpu& gpu);

}  // namespace slipway::mig
