// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/gpu_space.hpp - the free room: for GPU instances on a GPU, and for compute instances in a GPU
// instance.
#pragma once

#include <optional>
#include <vector>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// A GPU instance and its place, without its contents.
struct Placed {
  const InstanceProfile* profile = nullptr;
  unsigned start = 0;
};

class GpuSpace {
 public:
  /// Borrows the GPU, including its profiles.
  explicit GpuSpace(const Gpu& gpu);

  /// Takes the place without a check.
  void take(const Placed& placed) { taken_.push_back(placed); }
  void give_back() { taken_.pop_back(); }
  /// True when memory, compute slices, the profile's own limit and the shared media engines allow it.
  bool has(const InstanceProfile& profile, unsigned start) const;
  /// Returns how many instances of the profile fit beside those that are taken.
  unsigned more_of(const InstanceProfile& profile) const;
  /// Returns the number of possible pairs of a profile and a start.
  unsigned choices() const;

  /// Returns places for all of these beside those that are taken, such that the most choices remain; among equals those
  /// with the lowest starts. Empty: they do not fit.
  std::optional<std::vector<Placed>> place(std::vector<const InstanceProfile*> profiles) const;

 private:
  const Gpu& gpu_;
  unsigned compute_slices_ = 0;  ///< of the whole GPU
  std::vector<Placed> taken_;
};

// NVML reports the possible places of compute instances only for an existing GPU instance. They follow the same rule on
// all products.

/// True when a GPU instance of that many slices may have compute instances of that size.
bool is_compute_size(unsigned gpu_slices, unsigned compute_slices);

/// Places all of `sizes` beside the existing ones. Empty: there is not enough room.
std::optional<std::vector<ComputeInstance>> fit(unsigned gpu_slices, const std::vector<ComputeInstance>& existing,
                                                std::vector<unsigned> sizes);

}  // namespace slipway::mig
