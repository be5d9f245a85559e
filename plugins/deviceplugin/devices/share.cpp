// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "deviceplugin/devices/resources.hpp"
#include "nvidia/config/offer.hpp"

namespace slipway::deviceplugin {
namespace {

Error wrong(const SharedResource& entry, std::string what, std::string next) {
  return Error{.code = ErrorCode::invalid, .what = std::move(what), .where = entry.where, .next = std::move(next)};
}

Shareable shareable(const Device& device, const std::vector<Gpu>& gpus) {
  return {.index = device.index, .uuid = device.uuid, .product = gpus[device.position].product};
}

/// The devices of a resource that an entry is about, by their places.
Result<std::set<std::size_t>> chosen_of(const Resource& resource, const SharedResource& entry,
                                        const std::vector<Gpu>& gpus) {
  const DeviceChoice& choice = entry.devices;
  std::set<std::size_t> chosen;
  if (choice.count && *choice.count > resource.devices.size())
    return wrong(entry,
                 "sharing " + std::to_string(*choice.count) + " devices of " + resource.name + ", which has " +
                     std::to_string(resource.devices.size()),
                 "lower devices, or write all");
  for (std::size_t i = 0; i < resource.devices.size(); ++i)
    if (is_about(choice, shareable(resource.devices[i], gpus), i)) chosen.insert(i);
  const auto is_there = [&](const std::string& word) {
    const auto has_name = [&](const Device& device) { return shareable(device, gpus).has_name(word); };
    return std::ranges::any_of(resource.devices, has_name);
  };
  for (const std::string& word : choice.list)
    if (!is_there(word))
      return wrong(entry, resource.name + " has no device " + word, "`slipway deviceplugin resources` lists them");
  return chosen;
}

// NVIDIA: 48 clients from Volta on, 16 before.
Status check_mps(const Resource& resource, const std::set<std::size_t>& chosen, const SharedResource& entry,
                 const std::vector<Gpu>& gpus) {
  constexpr unsigned kOlderMost = 16;
  constexpr unsigned kMost = 48;
  constexpr int kVolta = 7;
  for (const std::size_t each : chosen) {
    const Device& device = resource.devices[each];
    const Gpu& gpu = gpus[device.position];
    if (device.mig)
      return wrong(entry, "MPS does not share MIG devices (" + device.index + ")", "share them by timeSlicing");
    const unsigned most = gpu.compute_major >= kVolta ? kMost : kOlderMost;
    if (entry.replicas > most)
      return wrong(entry,
                   gpu.label() + " takes at most " + std::to_string(most) + " MPS clients, not " +
                       std::to_string(entry.replicas),
                   "lower replicas");
  }
  return {};
}

void put(Resource& into, Device device, unsigned replicas) {
  for (unsigned i = 0; i < replicas; ++i)
    into.ids.push_back({device.uuid + "::" + std::to_string(i), into.devices.size()});
  into.devices.push_back(std::move(device));
}

class Sharer {
 public:
  Sharer(const Sharing& sharing, const std::vector<Gpu>& gpus, Resources& resources)
      : sharing_(sharing), gpus_(gpus), before_(resources) {
    for (auto& [name, resource] : resources) left_[name].insert_range(resource);
  }

  /// What one entry shares of one resource.
  Status share(const Resource& resource, const SharedResource& entry) {
    SLIPWAY_TRY(chosen, chosen_of(resource, entry, gpus_));
    if (sharing_.kind == SharingKind::mps) SLIPWAY_CHECK(check_mps(resource, chosen, entry, gpus_));
    const std::string name = shared_name(sharing_, entry, resource.name);
    for (const std::size_t each : chosen) {
      if (left_[resource.name].places.erase(each) == 0) continue;  // an earlier entry has it
      Resource& into = made_[name];
      into.name = name;
      into.sharing = sharing_.kind;
      into.replicas = std::max(into.replicas, entry.replicas);
      put(into, resource.devices[each], entry.replicas);
    }
    return {};
  }

  /// Unshared devices keep their resource; one that has both kinds lists both.
  Resources take() {
    for (const auto& [name, left] : left_)
      for (const std::size_t each : left.places) {
        Resource& into = made_[name];
        into.name = name;
        into.ids.push_back({before_.at(name).devices[each].uuid, into.devices.size()});
        into.devices.push_back(before_.at(name).devices[each]);
      }
    return std::move(made_);
  }

 private:
  struct Left {
    std::set<std::size_t> places;
    void insert_range(const Resource& resource) {
      for (std::size_t i = 0; i < resource.devices.size(); ++i) places.insert(i);
    }
  };
  const Sharing& sharing_;
  const std::vector<Gpu>& gpus_;
  const Resources before_;
  std::map<std::string, Left> left_;
  Resources made_;
};

}  // namespace

Status share(const Sharing& sharing, const std::vector<Gpu>& gpus, Resources& resources,
             std::vector<std::string>& notes) {
  if (sharing.kind == SharingKind::none) return {};
  Sharer sharer(sharing, gpus, resources);
  for (const SharedResource& entry : sharing.resources) {
    bool found = false;
    for (const auto& [name, resource] : resources) {
      if (!entry.name.empty() && entry.name != name) continue;
      SLIPWAY_CHECK(sharer.share(resource, entry));
      found = true;
    }
    if (!found && !entry.name.empty() && entry.may_exist)
      notes.push_back(entry.where + ": there is no resource " + entry.name + " to share");
  }
  resources = sharer.take();
  // What kubelet takes at once is 4 MiB, and a device is up to 65 bytes there.
  constexpr std::size_t kMostIds = 60'000;
  for (const auto& [name, resource] : resources)
    if (resource.ids.size() > kMostIds)
      return wrong(
          sharing.resources.front(),
          std::to_string(resource.ids.size()) + " replicas of " + name + " are more than kubelet can be told of",
          "stay below " + std::to_string(kMostIds));
  return {};
}

}  // namespace slipway::deviceplugin
