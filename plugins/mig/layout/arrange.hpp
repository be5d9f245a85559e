// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/arrange.hpp - where the instances of a layout are to lie: computed from the placements that the
// GPU reports, before anything is changed.
#pragma once

#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// Instances that give the GPU exactly these devices. Of those that exist as few are given up as possible: first
/// compute instances count, then GPU instances. New ones lie where they leave the most room for others.
///
/// Pure; the GPU's mode does not matter. Errors: `not_found` the GPU has no such profile; `conflict` they do not fit on
/// it together; `unsupported` it does not tell its profiles.
Result<Instances> arrange(const Gpu& gpu, const Counts& wanted, const std::string& where);

/// How many of a profile fit on an empty GPU: what the driver says, or fewer where the placements leave less room.
unsigned capacity(const Gpu& gpu, const InstanceProfile& profile);

/// What leads from one arrangement to another.
struct Difference {
  struct Part {
    GpuInstance instance;                  ///< as it is, or is to be
    bool whole = false;                    ///< the GPU instance itself as well
    std::vector<ComputeInstance> compute;  ///< of it, destroyed or created
  };
  std::vector<Part> destroyed;
  std::vector<Part> created;

  bool empty() const { return destroyed.empty() && created.empty(); }
};

Difference difference(const Instances& from, const Instances& to);

/// Compute instances that differ.
unsigned destroyed_devices(const Difference& difference);

}  // namespace slipway::mig
