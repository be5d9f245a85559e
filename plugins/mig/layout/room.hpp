// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/room.hpp - what there is room for: GPU instances on a GPU, and compute instances in a GPU
// instance.
#pragma once

#include <optional>
#include <vector>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// A GPU instance and its place, whatever is in it.
struct Placed {
  const InstanceProfile* profile = nullptr;
  unsigned start = 0;
};

class Room {
 public:
  /// Borrows the GPU, and takes its profiles.
  explicit Room(const Gpu& gpu);

  /// Takes the place without a question.
  void take(const Placed& placed) { taken_.push_back(placed); }
  void give_back() { taken_.pop_back(); }
  /// Memory, compute slices, the profile's own limit and the shared media engines allow it.
  bool has(const InstanceProfile& profile, unsigned start) const;
  /// How many instances of the profile fit beside what is taken.
  unsigned more_of(const InstanceProfile& profile) const;
  /// How many pairs of a profile and a start are possible.
  unsigned choices() const;

  /// Places for all of these beside what is taken, such that the most choices remain; among equals those with the
  /// lowest starts. Nothing: they do not fit.
  std::optional<std::vector<Placed>> place(std::vector<const InstanceProfile*> profiles) const;

 private:
  const Gpu& gpu_;
  unsigned compute_slices_ = 0;  ///< of the whole GPU
  std::vector<Placed> taken_;
};

// NVML tells where compute instances may lie only of a GPU instance that exists; the rule is the same on all products.

/// A GPU instance of so many slices may have compute instances of so many.
bool may_have(unsigned gpu_slices, unsigned compute_slices);

/// Puts all of `sizes` beside those that are there. Nothing: there is no room for all of them.
std::optional<std::vector<ComputeInstance>> fit(unsigned gpu_slices, const std::vector<ComputeInstance>& existing,
                                                std::vector<unsigned> sizes);

}  // namespace slipway::mig
