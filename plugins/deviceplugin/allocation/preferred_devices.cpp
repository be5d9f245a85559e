// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/allocation/preferred_devices.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace slipway::deviceplugin {
namespace {

/// The known ids, each once, in the resource's order; and the required ones.
struct Request {
  std::vector<const Id*> available;
  std::vector<const Id*> required;
};

std::vector<const Id*> known(const Resource& resource, const std::vector<std::string>& texts) {
  std::vector<const Id*> ids;
  for (const std::string& text : texts)
    if (const Id* const id = resource.find(text)) ids.push_back(id);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::string> texts_of(const std::vector<const Id*>& ids) {
  std::vector<std::string> texts;
  for (const Id* id : ids) texts.push_back(id->id);
  return texts;
}

/// Chooses whole GPUs, one id each.
std::vector<std::string> nearest(const Resource& resource, const Request& request, std::size_t size,
                                 const Nearness& nearness) {
  std::map<std::size_t, const Id*> at;
  std::vector<std::size_t> candidates;
  std::vector<std::size_t> required;
  for (const Id* id : request.available) at[resource.devices[id->device].position] = id;
  for (const Id* id : request.required) {
    at[resource.devices[id->device].position] = id;
    required.push_back(resource.devices[id->device].position);
  }
  for (const auto& [position, id] : at) candidates.push_back(position);
  std::vector<std::string> texts;
  for (const std::size_t position : nearest_set(candidates, required, size, nearness))
    texts.push_back(at[position]->id);
  return texts;
}

unsigned uncounted_of(const Id& id, const std::vector<unsigned>& uncounted) {
  return id.device < uncounted.size() ? uncounted[id.device] : 0;
}

/// Removes the devices with the most uncounted uses, as long as enough ids are left.
void leave_out_used(Request& request, std::size_t size, const std::vector<unsigned>& uncounted) {
  std::vector<const Id*> others;
  for (const Id* id : request.available)
    if (std::ranges::find(request.required, id) == request.required.end()) others.push_back(id);
  const std::size_t missing = size - request.required.size();
  std::ranges::stable_sort(others, {}, [&](const Id* id) { return uncounted_of(*id, uncounted); });
  if (others.size() <= missing) return;
  const unsigned most = uncounted_of(*others[missing - 1], uncounted);
  std::erase_if(request.available, [&](const Id* id) {
    return uncounted_of(*id, uncounted) > most && std::ranges::find(request.required, id) == request.required.end();
  });
}

/// Picks id by id, and counts the ids in use per place: the GPU of a MIG device, or else the device itself.
class Picker {
 public:
  Picker(const Resource& resource, bool packed, const Nearness& nearness, const std::vector<unsigned>& uncounted)
      : resource_(resource),
        packed_(packed),
        nearness_(nearness),
        uncounted_(uncounted),
        in_use_(resource.devices.size(), 0) {}

  std::vector<std::string> pick(const Request& request, std::size_t size) {
    for (const Id& id : resource_.ids) ++in_use_[place_of(id)];
    for (const Id* id : request.available)
      if (std::ranges::find(request.required, id) == request.required.end()) --in_use_[place_of(*id)];
    for (const Id* id : request.required) chosen_.push_back(id);
    std::vector<const Id*> left;
    for (const Id* id : request.available)
      if (std::ranges::find(chosen_, id) == chosen_.end()) left.push_back(id);
    while (chosen_.size() < size && !left.empty()) {
      const auto best = std::ranges::min_element(left, {}, [this](const Id* id) { return rank(*id); });
      ++in_use_[place_of(**best)];
      chosen_.push_back(*best);
      left.erase(best);
    }
    return texts_of(chosen_);
  }

 private:
  /// MIG devices of one GPU share a place, so that GPUs fill one after the other and whole ones stay free.
  std::size_t place_of(const Id& id) const {
    const Device& device = resource_.devices[id.device];
    if (!device.mig || resource_.shared()) return id.device;
    const auto first = std::ranges::find(resource_.devices, device.gpu, &Device::gpu);
    return static_cast<std::size_t>(first - resource_.devices.begin());
  }

  /// The id with the lowest rank is taken. In this order count: uncounted uses; ids in use and picks so far on its
  /// place (packed: the most ids in use come first); the distance to the picked ids; the order of the ids.
  std::tuple<unsigned, long, std::size_t, long, const Id*> rank(const Id& id) const {
    const std::size_t place = place_of(id);
    std::size_t times = 0;
    long near = 0;
    for (const Id* other : chosen_) {
      times += place_of(*other) == place ? 1U : 0U;
      const std::size_t one = resource_.devices[id.device].position;
      const std::size_t two = resource_.devices[other->device].position;
      if (one < nearness_.size() && two < nearness_.size()) near += nearness_.of(one, two);
    }
    const long use = in_use_[place];
    return {uncounted_of(id, uncounted_), packed_ ? -use : use, packed_ ? 0 : times, -near, &id};
  }

  const Resource& resource_;
  bool packed_;
  const Nearness& nearness_;
  const std::vector<unsigned>& uncounted_;
  std::vector<long> in_use_;  ///< ids in use, by place
  std::vector<const Id*> chosen_;
};

}  // namespace

std::vector<std::string> preferred(const Resource& resource, const PreferredRequest& asked, AllocationPolicy policy,
                                   const Nearness& nearness, const std::vector<unsigned>& uncounted) {
  Request request{known(resource, asked.available), known(resource, asked.required)};
  std::vector<const Id*> all = request.available;
  for (const Id* id : request.required)
    if (std::ranges::find(all, id) == all.end()) all.push_back(id);
  std::ranges::sort(all);
  if (asked.size <= request.required.size()) return texts_of(request.required);
  if (all.size() < asked.size) return texts_of(request.required);
  if (all.size() == asked.size) return texts_of(all);
  const bool mig = std::ranges::any_of(resource.devices, &Device::mig);
  if (!mig && !resource.shared() && nearness.size() > 0) {
    leave_out_used(request, asked.size, uncounted);
    return nearest(resource, request, asked.size, nearness);
  }
  return Picker(resource, policy == AllocationPolicy::packed || (mig && !resource.shared()), nearness, uncounted)
      .pick(request, asked.size);
}

}  // namespace slipway::deviceplugin
