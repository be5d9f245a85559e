// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/gpu_space.hpp"

#include <algorithm>

namespace slipway::mig {
namespace {

enum class Media { own, some, all, none };

/// A profile's use of the media engines that exist once per GPU.
Media media_of(const Profile& profile) {
  const auto has = [&profile](const char* attribute) { return std::ranges::count(profile.attributes, attribute) != 0; };
  if (has("me.all")) return Media::all;
  if (!has("me")) return Media::own;
  return profile.sign == '-' ? Media::none : Media::some;
}

/// There is one set of JPEG and OFA engines for +me; +me.all leaves them to no profile except -me.
bool media_clash(const Profile& one, const Profile& other) {
  const Media first = media_of(one);
  const Media second = media_of(other);
  if (first == Media::all) return second != Media::none;
  if (second == Media::all) return first != Media::none;
  return first == Media::some && second == Media::some;
}

/// Tries all places of the profiles from `next` on.
class Search {
 public:
  explicit Search(GpuSpace room) : room_(std::move(room)) {}

  void run(const std::vector<const InstanceProfile*>& profiles, std::size_t next) {
    if (next == profiles.size()) return keep();
    const InstanceProfile& profile = *profiles[next];
    for (const unsigned start : profile.starts) {
      // Equal profiles are placed in the order of their starts: another order would be the same arrangement.
      if (next > 0 && profiles[next - 1] == &profile && start < placed_.back().start) continue;
      if (!room_.has(profile, start)) continue;
      room_.take({&profile, start});
      placed_.push_back({&profile, start});
      run(profiles, next + 1);
      placed_.pop_back();
      room_.give_back();
    }
  }
  std::optional<std::vector<Placed>> best() { return std::move(best_); }

 private:
  void keep() {
    const unsigned choices = room_.choices();
    if (best_ && choices <= choices_) return;
    best_ = placed_;
    choices_ = choices;
  }

  GpuSpace room_;
  std::vector<Placed> placed_;
  std::optional<std::vector<Placed>> best_;
  unsigned choices_ = 0;
};

}  // namespace

GpuSpace::GpuSpace(const Gpu& gpu) : gpu_(gpu) {
  for (const InstanceProfile& each : gpu.profiles) compute_slices_ = std::max(compute_slices_, each.profile.gpu_slices);
}

bool GpuSpace::has(const InstanceProfile& profile, unsigned start) const {
  unsigned slices = profile.profile.gpu_slices;
  unsigned same = 0;
  for (const Placed& other : taken_) {
    if (start < other.start + other.profile->size && other.start < start + profile.size) return false;
    if (media_clash(profile.profile, other.profile->profile)) return false;
    slices += other.profile->profile.gpu_slices;
    same += other.profile == &profile ? 1U : 0U;
  }
  return slices <= compute_slices_ && same < profile.max;
}

unsigned GpuSpace::more_of(const InstanceProfile& profile) const {
  unsigned count = 0;
  GpuSpace room(*this);
  for (const unsigned start : profile.starts)  // sorted: this order fits the most instances
    if (room.has(profile, start)) {
      room.take({&profile, start});
      ++count;
    }
  return count;
}

unsigned GpuSpace::choices() const {
  unsigned count = 0;
  for (const InstanceProfile& profile : gpu_.profiles)
    for (const unsigned start : profile.starts) count += has(profile, start) ? 1U : 0U;
  return count;
}

std::optional<std::vector<Placed>> GpuSpace::place(std::vector<const InstanceProfile*> profiles) const {
  std::ranges::sort(profiles, [](const InstanceProfile* one, const InstanceProfile* other) {
    return one->size != other->size ? one->size > other->size : one->selector < other->selector;
  });
  Search search(*this);
  search.run(profiles, 0);
  return search.best();
}

}  // namespace slipway::mig
