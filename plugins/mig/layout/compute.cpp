// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>

#include "mig/layout/gpu_space.hpp"

namespace slipway::mig {
namespace {

// Slices of the profiles NVML_COMPUTE_INSTANCE_PROFILE_….
constexpr std::array kSizes{1U, 2U, 3U, 4U, 6U, 7U, 8U};

/// Compute instances of 1 slice can be anywhere, of 2 at even slices, of 3 at 0 and 4.
unsigned step_of(unsigned slices) { return slices == 3 ? 4 : slices; }

bool is_free(const std::vector<ComputeInstance>& existing, unsigned start, unsigned slices) {
  return std::ranges::none_of(existing, [=](const ComputeInstance& other) {
    return start < other.start + other.slices && other.start < start + slices;
  });
}

bool place(unsigned gpu_slices, std::vector<ComputeInstance>& existing, const std::vector<unsigned>& sizes,
           std::size_t next) {
  if (next == sizes.size()) return true;
  const unsigned slices = sizes[next];
  for (unsigned start = 0; start + slices <= gpu_slices; start += step_of(slices)) {
    if (!is_free(existing, start, slices)) continue;
    existing.push_back({start, slices});
    if (place(gpu_slices, existing, sizes, next + 1)) return true;
    existing.pop_back();
  }
  return false;
}

}  // namespace

bool is_compute_size(unsigned gpu_slices, unsigned compute_slices) {
  if (std::ranges::count(kSizes, compute_slices) == 0 || compute_slices > gpu_slices) return false;
  return compute_slices == gpu_slices || 2 * compute_slices <= gpu_slices + 1;
}

std::optional<std::vector<ComputeInstance>> fit(unsigned gpu_slices, const std::vector<ComputeInstance>& existing,
                                                std::vector<unsigned> sizes) {
  unsigned sum = 0;
  for (const ComputeInstance& each : existing) sum += each.slices;
  for (const unsigned slices : sizes) sum += slices;
  if (sum > gpu_slices) return std::nullopt;
  std::ranges::sort(sizes, std::greater{});
  std::vector<ComputeInstance> all = existing;
  if (!place(gpu_slices, all, sizes, 0)) return std::nullopt;
  std::ranges::sort(all);
  return all;
}

}  // namespace slipway::mig
