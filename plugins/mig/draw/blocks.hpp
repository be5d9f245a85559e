// SPDX-License-Identifier: Apache-2.0
// plugins/mig/draw/blocks.hpp - a GPU as a row of blocks on its memory slices: the basis of every picture of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// The content of some adjacent memory slices.
struct Block {
  /// `whole`: the GPU is not partitioned. `unusable`: the slice is free, but no profile can use it beside the existing
  /// instances.
  enum class Kind { instance, free, unusable, whole };
  Kind kind = Kind::free;
  unsigned start = 0;
  unsigned size = 1;
  std::vector<std::string> names;  ///< from the longest to the shortest: "1g.10gb+me", "1g+me", "1g"
  GpuInstance instance;            ///< of an instance
  unsigned gpu_slices = 0;         ///< compute slices of an instance

  bool is_box() const { return kind == Kind::instance || kind == Kind::whole; }
  /// True when it is one compute instance, as large as the GPU instance.
  bool is_one_device() const { return instance.compute.size() == 1 && instance.compute.front().slices == gpu_slices; }
};

/// A compute instance of a GPU instance, or a free compute slice.
struct Cell {
  ComputeInstance place;
  bool is_free = false;

  std::string text() const { return is_free ? "free" : std::to_string(place.slices) + "c"; }
};

/// Number of slices that profiles and instances cover; 1 if the GPU reports none.
unsigned memory_slices(const Gpu& gpu);
/// 0 if the GPU reports no profiles.
unsigned compute_slices(const Gpu& gpu);

/// Returns the blocks in the order of the slices, without gaps. Each free slice is a block.
std::vector<Block> blocks_of(const Gpu& gpu, bool enabled, const Instances& instances);
inline std::vector<Block> blocks_of(const Gpu& gpu) { return blocks_of(gpu, gpu.enabled, gpu.instances); }
/// Returns one block for the whole GPU, with a text in it.
std::vector<Block> one_block(const Gpu& gpu, std::vector<std::string> names);

/// Returns the cells in the order of the compute slices, without gaps.
std::vector<Cell> cells_of(const Block& block);

/// Returns the first name that fits; the beginning of the last one if none does.
std::string fitting(const std::vector<std::string>& names, std::size_t width);

/// The number of instances of a profile that fit beside the existing ones.
struct MoreOf {
  Profile profile;
  unsigned count = 0;
};
/// Returns the largest profiles first, and leaves out those that do not fit.
std::vector<MoreOf> further_instances(const Gpu& gpu);

}  // namespace slipway::mig
