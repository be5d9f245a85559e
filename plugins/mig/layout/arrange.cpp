// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/arrange.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "mig/layout/gpu_space.hpp"

namespace slipway::mig {
namespace {

/// Sizes of the compute instances for the GPU instances of each profile, the largest first.
using Sizes = std::map<const InstanceProfile*, std::vector<unsigned>>;

std::vector<std::string> device_names(const Gpu& gpu) {
  std::vector<std::string> names;
  std::vector<Profile> profiles;
  for (const InstanceProfile& each : gpu.profiles) profiles.push_back(each.profile);
  std::ranges::sort(profiles);  // by size
  for (const Profile& each : profiles) names.push_back(each.text());
  return names;
}

/// Suggests only profiles of the same number of slices.
std::string meant(const Gpu& gpu, const Profile& profile) {
  std::vector<std::string> names;
  for (const InstanceProfile& each : gpu.profiles)
    if (each.profile.gpu_slices == profile.gpu_slices) names.push_back(each.profile.text());
  return did_you_mean(profile.text(), names);
}

Error no_such_profile(const Gpu& gpu, const Profile& profile, const std::string& where) {
  const std::vector<std::string> names = device_names(gpu);
  return Error{.code = ErrorCode::not_found,
               .what = fmt::format("{}, {}, has no MIG profile '{}'{}", gpu.text(), gpu.name, profile.text(),
                                   meant(gpu, profile)),
               .where = where,
               .next = "use one of the GPU's profiles: " + joined(names)};
}

Result<Sizes> sizes_of(const Gpu& gpu, const Counts& wanted, const std::string& where) {
  if (gpu.profiles.empty() && !wanted.empty())
    return Error{
        .code = ErrorCode::unsupported,
        .what = gpu.text() + " does not report its MIG profiles while MIG is disabled, as drivers of branch 535 do",
        .where = where,
        .next = "enable MIG first: `nvidia-smi -i " + std::to_string(gpu.index) + " -mig 1`"};
  Sizes sizes;
  for (const auto& [profile, count] : wanted) {
    const InstanceProfile* const found = gpu.find(profile.gpu_instance());
    if (found == nullptr || !is_compute_size(profile.gpu_slices, profile.compute_slices))
      return no_such_profile(gpu, profile, where);
    sizes[found].insert(sizes[found].end(), count, profile.compute_slices);
  }
  for (auto& [profile, list] : sizes) std::ranges::sort(list, std::greater{});
  return sizes;
}

/// The cost of keeping some of the existing GPU instances, and the instances needed beside them.
struct Option {
  unsigned destroyed_compute = 0;
  unsigned destroyed_gpu = 0;
  Instances kept;  ///< with all compute instances that they will have
  std::vector<std::pair<const InstanceProfile*, std::vector<ComputeInstance>>> fresh;
};

class Options {
 public:
  Options(const Gpu& gpu, Sizes wanted) : gpu_(gpu), wanted_(std::move(wanted)) {
    if (gpu.enabled) existing_ = gpu.instances;
  }

  /// Returns the cheapest option that has enough room.
  std::optional<Instances> best() const {
    std::vector<Option> options;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << existing_.size()); ++chosen)
      if (auto option = keep(chosen)) options.push_back(std::move(*option));
    std::ranges::stable_sort(options, [](const Option& one, const Option& other) {
      return std::pair(one.destroyed_compute, one.destroyed_gpu) <
             std::pair(other.destroyed_compute, other.destroyed_gpu);
    });
    for (const Option& option : options)
      if (auto instances = placed(option)) return instances;
    return std::nullopt;
  }

 private:
  /// @param chosen  a bit for each existing GPU instance that is kept
  std::optional<Option> keep(std::size_t chosen) const {
    Option option;
    Sizes missing = wanted_;
    for (std::size_t i = 0; i < existing_.size(); ++i) {
      const GpuInstance& instance = existing_[i];
      const auto compute = static_cast<unsigned>(instance.compute.size());
      if ((chosen >> i & 1U) == 0) {
        option.destroyed_compute += compute;
        ++option.destroyed_gpu;
        continue;
      }
      const auto of_profile = missing.find(gpu_.find(instance.profile_id));
      if (of_profile == missing.end()) return std::nullopt;
      option.kept.push_back(still_wanted(instance, of_profile->second));
      option.destroyed_compute += compute - static_cast<unsigned>(option.kept.back().compute.size());
    }
    for (GpuInstance& instance : option.kept) {
      const InstanceProfile* const profile = gpu_.find(instance.profile_id);
      fill(profile->profile.gpu_slices, instance.compute, missing[profile]);
      if (instance.compute.empty()) return std::nullopt;
    }
    for (auto& [profile, sizes] : missing)
      while (!sizes.empty()) {
        std::vector<ComputeInstance> compute;
        fill(profile->profile.gpu_slices, compute, sizes);
        if (compute.empty()) return std::nullopt;
        option.fresh.emplace_back(profile, std::move(compute));
      }
    return option;
  }

  static GpuInstance still_wanted(const GpuInstance& instance, std::vector<unsigned>& missing) {
    GpuInstance kept{.start = instance.start, .profile_id = instance.profile_id, .compute = {}};
    for (const ComputeInstance& part : instance.compute) {
      const auto found = std::ranges::find(missing, part.slices);
      if (found == missing.end()) continue;
      missing.erase(found);
      kept.compute.push_back(part);
    }
    return kept;
  }

  /// Adds as many missing instances as there is room for, the largest first.
  static void fill(unsigned gpu_slices, std::vector<ComputeInstance>& existing, std::vector<unsigned>& missing) {
    std::vector<unsigned> added;
    std::vector<unsigned> rest;
    std::optional<std::vector<ComputeInstance>> filled;
    for (const unsigned slices : missing) {
      added.push_back(slices);
      if (auto more = fit(gpu_slices, existing, added)) {
        filled = std::move(more);
        continue;
      }
      added.pop_back();
      rest.push_back(slices);
    }
    if (filled) existing = std::move(*filled);
    missing = std::move(rest);
  }

  std::optional<Instances> placed(const Option& option) const {
    GpuSpace room(gpu_);
    for (const GpuInstance& instance : option.kept) room.take({gpu_.find(instance.profile_id), instance.start});
    std::vector<const InstanceProfile*> profiles;
    for (const auto& [profile, compute] : option.fresh) profiles.push_back(profile);
    const auto places = room.place(std::move(profiles));
    if (!places) return std::nullopt;
    Instances all = option.kept;
    auto fresh = option.fresh;
    for (const Placed& each : *places) {
      const auto next = std::ranges::find(fresh, each.profile, [](const auto& one) { return one.first; });
      all.push_back({each.start, each.profile->id, std::move(next->second)});
      fresh.erase(next);
    }
    std::ranges::sort(all);
    return all;
  }

  const Gpu& gpu_;
  Sizes wanted_;
  Instances existing_;
};

Error does_not_fit(const Gpu& gpu, const Counts& wanted, const std::string& where) {
  std::vector<std::string> room;
  for (const auto& [profile, count] : wanted)
    if (const InstanceProfile* const found = gpu.find(profile.gpu_instance()))
      room.push_back(fmt::format("{} x {}", capacity(gpu, *found), found->profile.text()));
  room.erase(std::unique(room.begin(), room.end()), room.end());
  return Error{.code = ErrorCode::conflict,
               .what = fmt::format("{} do not fit together on {}, {}",
                                   to_text(Layout{.enabled = true, .devices = wanted}), gpu.text(), gpu.name),
               .where = where,
               .next = "ask for fewer: the empty GPU has room for " + listed(room, "or")};
}

bool same_place(const GpuInstance& one, const GpuInstance& other) {
  return one.start == other.start && one.profile_id == other.profile_id;
}

/// Returns what `from` has and `to` does not have.
std::vector<Difference::Part> lacking(const Instances& from, const Instances& to) {
  std::vector<Difference::Part> parts;
  for (const GpuInstance& instance : from) {
    const auto other = std::ranges::find_if(to, [&](const GpuInstance& each) { return same_place(each, instance); });
    Difference::Part part{.instance = instance, .whole = other == to.end(), .compute = {}};
    for (const ComputeInstance& each : instance.compute)
      if (part.whole || std::ranges::count(other->compute, each) == 0) part.compute.push_back(each);
    if (part.whole || !part.compute.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

/// A profile has at most one start per memory slice, and a GPU has fewer slices than this.
constexpr std::size_t kMostInstances = 16;

}  // namespace

Result<Instances> arrange(const Gpu& gpu, const Counts& wanted, const std::string& where) {
  SLIPWAY_TRY(sizes, sizes_of(gpu, wanted, where));
  unsigned count = 0;
  for (const auto& [profile, list] : sizes) count += static_cast<unsigned>(list.size());
  if (count > kMostInstances * kMostInstances) return does_not_fit(gpu, wanted, where);
  for (const auto& [profile, list] : sizes)  // skip the search when it cannot succeed
    if (std::accumulate(list.begin(), list.end(), 0U) > capacity(gpu, *profile) * profile->profile.gpu_slices)
      return does_not_fit(gpu, wanted, where);
  if (gpu.instances.size() > kMostInstances)
    return Error{.code = ErrorCode::unsupported,
                 .what = fmt::format("{} has {} GPU instances, more than any GPU that is known", gpu.text(),
                                     gpu.instances.size()),
                 .where = where};
  if (auto instances = Options(gpu, std::move(sizes)).best()) return std::move(*instances);
  return does_not_fit(gpu, wanted, where);
}

unsigned capacity(const Gpu& gpu, const InstanceProfile& profile) { return GpuSpace(gpu).more_of(profile); }

Difference difference(const Instances& from, const Instances& to) {
  return {.destroyed = lacking(from, to), .created = lacking(to, from)};
}

unsigned destroyed_devices(const Difference& difference) {
  unsigned count = 0;
  for (const Difference::Part& part : difference.destroyed) count += static_cast<unsigned>(part.compute.size());
  return count;
}

}  // namespace slipway::mig
