// SPDX-License-Identifier: Apache-2.0
#include "mig/draw/blocks.hpp"

#include <algorithm>
#include <functional>

#include "mig/layout/gpu_space.hpp"

namespace slipway::mig {
namespace {

GpuSpace space_left_by(const Gpu& gpu, const Instances& instances) {
  GpuSpace room(gpu);
  for (const GpuInstance& each : instances)
    if (const InstanceProfile* const profile = gpu.find(each.profile_id)) room.take({profile, each.start});
  return room;
}

bool may_be_used(const Gpu& gpu, const GpuSpace& room, unsigned slice) {
  for (const InstanceProfile& profile : gpu.profiles)
    for (const unsigned start : profile.starts)
      if (start <= slice && slice < start + profile.size && room.has(profile, start)) return true;
  return false;
}

/// A box of one slice is too narrow for an attribute behind the whole name.
std::vector<std::string> names_of(const Profile& profile) {
  const std::string name = profile.text();
  const std::string slices = std::to_string(profile.gpu_slices) + "g";
  const std::size_t attributes = name.find_first_of("+-");
  if (attributes == std::string::npos) return {name, slices};
  return {name, slices + name.substr(attributes), slices};
}

Block block_of(const Gpu& gpu, const GpuInstance& instance) {
  Block block{.kind = Block::Kind::instance, .start = instance.start, .names = {}, .instance = instance};
  const InstanceProfile* const profile = gpu.find(instance.profile_id);
  if (profile == nullptr) {
    block.names = {"profile " + std::to_string(instance.profile_id), "?"};
    return block;
  }
  block.size = profile->size;
  block.names = names_of(profile->profile);
  block.gpu_slices = profile->profile.gpu_slices;
  return block;
}

}  // namespace

unsigned memory_slices(const Gpu& gpu) {
  unsigned slices = 1;
  for (const InstanceProfile& profile : gpu.profiles)
    for (const unsigned start : profile.starts) slices = std::max(slices, start + profile.size);
  for (const GpuInstance& each : gpu.instances) slices = std::max(slices, each.start + 1);
  return slices;
}

unsigned compute_slices(const Gpu& gpu) {
  unsigned slices = 0;
  for (const InstanceProfile& each : gpu.profiles) slices = std::max(slices, each.profile.gpu_slices);
  return slices;
}

std::vector<Block> one_block(const Gpu& gpu, std::vector<std::string> names) {
  return {
      {.kind = Block::Kind::whole, .start = 0, .size = memory_slices(gpu), .names = std::move(names), .instance = {}}};
}

std::vector<Block> blocks_of(const Gpu& gpu, bool enabled, const Instances& instances) {
  if (gpu.lost) return one_block(gpu, {"lost"});
  if (!gpu.capable) return one_block(gpu, {"not capable of MIG"});
  if (!enabled) return one_block(gpu, {"whole GPU, MIG disabled"});
  if (gpu.profiles.empty()) return one_block(gpu, {"MIG enabled, but the driver reports no profiles"});
  std::vector<Block> blocks;
  unsigned next = 0;
  const GpuSpace room = space_left_by(gpu, instances);
  const auto leave_free = [&](unsigned end) {
    for (; next < end; ++next) {
      const auto kind = may_be_used(gpu, room, next) ? Block::Kind::free : Block::Kind::unusable;
      blocks.push_back({.kind = kind, .start = next, .names = {}, .instance = {}});
    }
  };
  for (const GpuInstance& each : instances) {
    if (each.start < next) continue;
    leave_free(each.start);
    blocks.push_back(block_of(gpu, each));
    next += blocks.back().size;
  }
  leave_free(memory_slices(gpu));
  return blocks;
}

std::vector<Cell> cells_of(const Block& block) {
  std::vector<Cell> cells;
  unsigned next = 0;
  const auto leave_free = [&](unsigned end) {
    for (; next < end; ++next) cells.push_back({.place = {next, 1}, .is_free = true});
  };
  for (const ComputeInstance& each : block.instance.compute) {
    if (each.start < next || each.start + each.slices > block.gpu_slices) continue;
    leave_free(each.start);
    cells.push_back({.place = each});
    next += each.slices;
  }
  leave_free(block.gpu_slices);
  return cells;
}

std::string fitting(const std::vector<std::string>& names, std::size_t width) {
  for (const std::string& each : names)
    if (each.size() <= width) return each;
  return names.empty() ? std::string() : names.back().substr(0, width);
}

std::vector<MoreOf> further_instances(const Gpu& gpu) {
  std::vector<MoreOf> all;
  const GpuSpace room = space_left_by(gpu, gpu.instances);
  for (const InstanceProfile& each : gpu.profiles)
    if (const unsigned count = room.more_of(each); count != 0) all.push_back({each.profile, count});
  std::ranges::stable_sort(all, std::greater{}, &MoreOf::profile);
  return all;
}

}  // namespace slipway::mig
