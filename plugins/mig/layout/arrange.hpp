// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/arrange.hpp - the places of the instances of a layout: computed from the placements that the GPU
// reports, before anything is changed.
#pragma once

#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// Returns instances that give the GPU exactly these devices. As few existing ones as possible are destroyed, counting
/// compute instances first, then GPU instances. New ones are placed where they leave the most room.
///
/// No side effects; the GPU's mode does not matter. Errors: `not_found` the GPU has no such profile; `conflict` they do
/// not fit on it together; `unsupported` it does not report its profiles.
Result<Instances> arrange(const Gpu& gpu, const Counts& wanted, const std::string& where);

/// Returns how many instances of a profile fit on an empty GPU: the driver's number, or fewer if the placements leave
/// less room.
unsigned capacity(const Gpu& gpu, const InstanceProfile& profile);

/// The steps from one arrangement to another.
struct Difference {
  struct Part {
    GpuInstance instance;                  ///< as it is, or will be
    bool whole = false;                    ///< the GPU instance itself too
    std::vector<ComputeInstance> compute;  ///< its compute instances that are destroyed or created
  };
  std::vector<Part> destroyed;
  std::vector<Part> created;

  bool empty() const { return destroyed.empty() && created.empty(); }
};

Difference difference(const Instances& from, const Instances& to);

/// Number of compute instances that differ.
unsigned destroyed_devices(const Difference& difference);

}  // namespace slipway::mig
