// SPDX-License-Identifier: Apache-2.0
// plugins/mig/draw/blocks.hpp - a GPU as a row of blocks on its memory slices: what every picture of it shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// What lies on some memory slices that follow each other.
struct Block {
  /// `whole`: the GPU is not partitioned. `unusable`: the slice is free, and no profile can use it beside the others.
  enum class Kind { instance, free, unusable, whole };
  Kind kind = Kind::free;
  unsigned start = 0;
  unsigned size = 1;
  std::vector<std::string> names;  ///< from the longest to the shortest: "1g.10gb+me", "1g+me", "1g"
  GpuInstance instance;            ///< of an instance
  unsigned gpu_slices = 0;         ///< compute slices of an instance

  bool is_box() const { return kind == Kind::instance || kind == Kind::whole; }
  /// It is one compute instance, as large as the GPU instance.
  bool is_one_device() const { return instance.compute.size() == 1 && instance.compute.front().slices == gpu_slices; }
};

/// A compute instance of a GPU instance, or a free compute slice of it.
struct Cell {
  ComputeInstance place;
  bool is_free = false;

  std::string text() const { return is_free ? "free" : std::to_string(place.slices) + "c"; }
};

/// As far as profiles and instances reach; 1 where the GPU tells none.
unsigned memory_slices(const Gpu& gpu);
/// 0 where the GPU tells no profiles.
unsigned compute_slices(const Gpu& gpu);

/// In the order of the slices, without gaps. Of a free stretch each slice is a block.
std::vector<Block> blocks_of(const Gpu& gpu, bool enabled, const Instances& instances);
inline std::vector<Block> blocks_of(const Gpu& gpu) { return blocks_of(gpu, gpu.enabled, gpu.instances); }
/// One block for the whole GPU, with a text in it.
std::vector<Block> one_block(const Gpu& gpu, std::vector<std::string> names);

/// In the order of the compute slices, without gaps.
std::vector<Cell> cells_of(const Block& block);

/// The first that is no wider; the beginning of the last where none is.
std::string fitting(const std::vector<std::string>& names, std::size_t width);

/// How many instances of a profile fit beside those that are there.
struct MoreOf {
  Profile profile;
  unsigned count = 0;
};
/// The largest profiles first; those that do not fit are left out.
std::vector<MoreOf> further_instances(const Gpu& gpu);

}  // namespace slipway::mig
