// SPDX-License-Identifier: Apache-2.0
// sim/model/links.hpp - which GPU of a simulated machine each NVLink leads to.
#pragma once

#include <slipway/result.hpp>

#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::core {

/// Fills link_peers of all GPUs: as the profile's links say, or all of them to switches when it has none.
/// Errors: `invalid` when a GPU has fewer links than the profile says.
Status set_sim_links(const SimProfile& profile, sim::Machine& machine);

}  // namespace slipway::core
