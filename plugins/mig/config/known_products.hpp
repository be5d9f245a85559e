// SPDX-License-Identifier: Apache-2.0
// plugins/mig/config/known_products.hpp - the MIG devices that NVIDIA publishes for its products, for drivers that
// report them only while MIG is enabled (branch 535).
//
// Source: NVIDIA MIG User Guide (R580), supported profiles; PCI ids as in the configs that ship with nvidia-mig-parted.
#pragma once

#include <vector>

#include "mig/layout/gpu.hpp"
#include "mig/model/device_id.hpp"
#include "mig/profile/profile.hpp"

namespace slipway::mig {

/// The number of MIG devices of a profile on an empty GPU.
struct Offer {
  Profile profile;
  unsigned count = 0;
};

/// Empty: no values are published for that chip.
std::vector<Offer> published_offers(const DeviceId& id);
/// True for a profile of any product in the table.
bool is_published(const Profile& profile);
/// Returns the GPU's own values, or else the published ones.
std::vector<Offer> offers_of(const Gpu& gpu);

}  // namespace slipway::mig
