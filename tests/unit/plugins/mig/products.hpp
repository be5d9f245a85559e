// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/mig/products.hpp - GPUs with the MIG profiles and placements that NVIDIA publishes for them.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "mig/layout/gpu.hpp"
#include "mig/layout/gpu_space.hpp"

namespace slipway::mig::testing {

inline Profile named(const std::string& name) { return *parse_profile(name, "test"); }

inline InstanceProfile row(const std::string& name, unsigned id, unsigned max, unsigned size,
                           const std::vector<unsigned>& starts) {
  return {.profile = named(name), .selector = id, .id = id, .max = max, .size = size, .starts = starts};
}

inline Gpu product(const std::string& name, std::uint32_t device, std::vector<InstanceProfile> profiles) {
  return {.index = 0,
          .address = "0000:18:00.0",
          .uuid = "GPU-0",
          .name = name,
          .id = {.chip = device << 16U | 0x10deU, .board = {}},
          .capable = true,
          .enabled = true,
          .pending = true,
          .profiles = std::move(profiles),
          .instances = {}};
}

/// The geometry of A100, H100, H200, B200 and similar GPUs: 8 memory slices, 7 compute slices.
/// @param gb  of 1g, 2g (the same as of the 1g with double memory), 3g (the same as of 4g) and 7g
inline Gpu seven_slices(const std::string& name, std::uint32_t device, const std::vector<unsigned>& gb) {
  const auto text = [](unsigned slices, unsigned memory, const std::string& more = "") {
    return std::to_string(slices) + "g." + std::to_string(memory) + "gb" + more;
  };
  return product(
      name, device,
      {row(text(1, gb[0]), 19, 7, 1, {0, 1, 2, 3, 4, 5, 6}),
       row(text(1, gb[0], "+me"), 20, 1, 1, {0, 1, 2, 3, 4, 5, 6}), row(text(1, gb[1]), 15, 4, 2, {0, 2, 4, 6}),
       row(text(2, gb[1]), 14, 3, 2, {0, 2, 4}), row(text(3, gb[2]), 9, 2, 4, {0, 4}),
       row(text(4, gb[2]), 5, 1, 4, {0}), row(text(7, gb[3]), 0, 1, 8, {0})});
}

inline Gpu a30() {
  return product("NVIDIA A30", 0x20b7,
                 {row("1g.6gb", 14, 4, 1, {0, 1, 2, 3}), row("1g.6gb+me", 21, 1, 1, {0, 1, 2, 3}),
                  row("2g.12gb", 5, 2, 2, {0, 2}), row("2g.12gb+me", 6, 1, 2, {0, 2}), row("4g.24gb", 0, 1, 4, {0})});
}

inline Gpu a100_40() { return seven_slices("NVIDIA A100-SXM4-40GB", 0x20b0, {5, 10, 20, 40}); }
inline Gpu a100_80() { return seven_slices("NVIDIA A100-SXM4-80GB", 0x20b2, {10, 20, 40, 80}); }
inline Gpu h100() { return seven_slices("NVIDIA H100 80GB HBM3", 0x2330, {10, 20, 40, 80}); }
inline Gpu h200() { return seven_slices("NVIDIA H200", 0x2335, {18, 35, 71, 141}); }
inline Gpu b200() { return seven_slices("NVIDIA B200", 0x2901, {23, 45, 90, 180}); }

inline Gpu rtx_pro_6000() {
  const std::vector<unsigned> quarters{0, 3, 6, 9};
  const std::vector<unsigned> halves{0, 6};
  return product(
      "NVIDIA RTX PRO 6000 Blackwell Server Edition", 0x2bb5,
      {row("1g.24gb", 14, 4, 3, quarters), row("1g.24gb+me", 21, 1, 3, quarters),
       row("1g.24gb+gfx", 47, 4, 3, quarters), row("1g.24gb+me.all", 65, 1, 3, quarters),
       row("1g.24gb-me", 67, 4, 3, quarters), row("2g.48gb", 5, 2, 6, halves), row("2g.48gb+gfx", 35, 2, 6, halves),
       row("2g.48gb+me.all", 64, 1, 6, halves), row("2g.48gb-me", 66, 2, 6, halves), row("4g.96gb", 0, 1, 12, {0}),
       row("4g.96gb+gfx", 32, 1, 12, {0})});
}

inline std::vector<Gpu> products() { return {a30(), a100_40(), a100_80(), h100(), h200(), b200(), rtx_pro_6000()}; }

inline Counts counts(const std::vector<std::pair<std::string, unsigned>>& list) {
  Counts counts;
  for (const auto& [name, count] : list) counts[named(name)] += count;
  return counts;
}

/// Returns a GPU instance with one compute instance of its size.
inline GpuInstance whole(const Gpu& gpu, const std::string& name, unsigned start) {
  const InstanceProfile* const profile = gpu.find(named(name));
  return {.start = start, .profile_id = profile->id, .compute = {{0, profile->profile.gpu_slices}}};
}

inline Gpu with(Gpu gpu, Instances instances) {
  gpu.instances = std::move(instances);
  return gpu;
}

/// Returns instances at random places, some of them divided, some without a compute instance.
inline Instances any_instances(const Gpu& gpu, std::mt19937& random) {
  GpuSpace room(gpu);
  Instances all;
  for (int i = 0; i < 8; ++i) {
    const InstanceProfile& profile = gpu.profiles[random() % gpu.profiles.size()];
    const unsigned start = profile.starts[random() % profile.starts.size()];
    if (!room.has(profile, start)) continue;
    room.take({&profile, start});
    const unsigned slices = profile.profile.gpu_slices;
    std::vector<ComputeInstance> compute{{0, slices}};
    if (random() % 3 == 0) compute = {{slices - 1, 1}};
    if (random() % 5 == 0) compute.clear();
    all.push_back({.start = start, .profile_id = profile.id, .compute = compute});
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace slipway::mig::testing
