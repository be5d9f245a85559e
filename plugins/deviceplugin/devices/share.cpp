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
  const Gpu& gpu = gpus[device.position];
  const std::size_t colon = device.index.find(':');
  return {.index = std::to_string(gpu.number()) + (colon == std::string::npos ? "" : device.index.substr(colon)),
          .uuid = device.uuid,
          .product = gpu.product};
}

/// The machine that a config is applied to.
struct Machine {
  const Settings& settings;
  const std::vector<Gpu>& gpus;
  const std::vector<AbsentGpu>& absent;

  /// Returns the absent GPUs that would belong to a resource, in the order of their numbers. Their MIG mode is unknown,
  /// so their product alone decides.
  std::vector<const AbsentGpu*> absent_of(const std::string& resource) const {
    std::vector<const AbsentGpu*> found;
    for (const AbsentGpu& each : absent)
      if (first_fit(settings.gpu_names, each.product, "nvidia.com/gpu") == resource) found.push_back(&each);
    return found;
  }
  /// Returns the GPU that a word of `devices` may refer to: "1", "1:0", or a UUID, which is unknown for a lost GPU.
  const AbsentGpu* find_absent(const std::string& word) const {
    const bool is_uuid = word.starts_with("GPU-") || word.starts_with("MIG-");
    const std::string number = word.substr(0, word.find(':'));
    const auto found = std::ranges::find_if(
        absent, [&](const AbsentGpu& each) { return is_uuid || std::to_string(each.number) == number; });
    return found == absent.end() ? nullptr : &*found;
  }
  bool has_number(const std::string& word) const {
    return std::ranges::any_of(gpus, [&](const Gpu& gpu) { return std::to_string(gpu.number()) == word; });
  }
};

/// The devices that an entry selects, and those of them that are not available.
struct Choice {
  std::set<std::size_t> places;  ///< in Resource::devices
  std::vector<Missing> missing;
};

/// Selects the first devices, counting lost GPUs too: a GPU that comes back never takes the place of another.
void choose_by_count(const Resource& resource, const SharedResource& entry, const Machine& machine, Choice& choice) {
  const unsigned count = *entry.devices.count;
  const auto absent = machine.absent_of(resource.name);
  const std::size_t all = resource.devices.size() + absent.size();
  if (count > all)
    choice.missing.push_back({.where = entry.where,
                              .what = "sharing " + std::to_string(count) + " devices of " + resource.name +
                                      ", which has " + std::to_string(all),
                              .next = "lower devices, or write all",
                              .may_come = machine.settings.mig_strategy != MigStrategy::none});
  std::size_t before = 0;  // absent GPUs that come before a device
  for (std::size_t i = 0; i < resource.devices.size(); ++i) {
    while (before < absent.size() && absent[before]->number < machine.gpus[resource.devices[i].position].number())
      ++before;
    if (is_about(entry.devices, shareable(resource.devices[i], machine.gpus), i + before)) choice.places.insert(i);
  }
  const std::size_t got = choice.places.size();
  if (got < std::min<std::size_t>(count, all))
    choice.missing.push_back({.where = entry.where,
                              .what = std::to_string(got) + " of " + std::to_string(count) + " devices of " +
                                      resource.name + " can be shared: " + absent.front()->label() + " does not answer",
                              .next = "`slipway doctor` names the remedy",
                              .is_lost = true});
}

void choose_by_name(const Resource& resource, const SharedResource& entry, const Machine& machine, Choice& choice) {
  std::set<std::string> found;
  for (std::size_t i = 0; i < resource.devices.size(); ++i) {
    const Shareable device = shareable(resource.devices[i], machine.gpus);
    if (is_about(entry.devices, device, i)) choice.places.insert(i);
    for (const std::string& word : entry.devices.list)
      if (device.has_name(word)) found.insert(word);
  }
  for (const std::string& word : entry.devices.list) {
    if (found.contains(word)) continue;
    const std::string what = resource.name + " has no device " + word;
    if (const AbsentGpu* const lost = machine.find_absent(word))
      choice.missing.push_back({.where = entry.where,
                                .what = what + ": " + lost->label() + " does not answer",
                                .next = "`slipway doctor` names the remedy",
                                .is_lost = true});
    else
      choice.missing.push_back(
          {.where = entry.where,
           .what = what,
           .next = "`slipway deviceplugin resources` lists them",
           .may_come = word.find_first_not_of("0123456789") != std::string::npos || machine.has_number(word)});
  }
}

/// Returns the devices of a resource that an entry selects, by index.
Choice choose(const Resource& resource, const SharedResource& entry, const Machine& machine) {
  Choice choice;
  if (entry.devices.count)
    choose_by_count(resource, entry, machine, choice);
  else
    choose_by_name(resource, entry, machine, choice);
  return choice;
}

// NVIDIA's limit: 48 clients from Volta on, 16 before.
Status check_mps(const Resource& resource, const std::set<std::size_t>& chosen, const SharedResource& entry,
                 const std::vector<Gpu>& gpus) {
  constexpr unsigned kOlderMost = 16;
  constexpr unsigned kMost = 48;
  constexpr int kVolta = 7;
  for (const std::size_t each : chosen) {
    const Device& device = resource.devices[each];
    const Gpu& gpu = gpus[device.position];
    if (device.mig)
      return Error{.code = ErrorCode::not_found,
                   .what = "MPS does not share MIG devices (" + device.index + ")",
                   .where = entry.where,
                   .next = "share them by timeSlicing"};
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

/// Returns the entry that makes the most replicas of a resource.
const SharedResource& entry_of(const Sharing& sharing, const Resource& resource) {
  const SharedResource* most = &sharing.resources.front();
  for (const SharedResource& each : sharing.resources)
    if (each.replicas == resource.replicas &&
        (each.name.empty() || shared_name(sharing, each, each.name) == resource.name))
      most = &each;
  return *most;
}

class Sharer {
 public:
  Sharer(const Machine& machine, Resources& resources, std::vector<Missing>& missing)
      : sharing_(machine.settings.sharing), machine_(machine), before_(resources), missing_(missing) {
    for (auto& [name, resource] : resources) left_[name].insert_range(resource);
  }

  /// Applies one entry to one resource.
  Status share(const Resource& resource, const SharedResource& entry) {
    const Choice choice = choose(resource, entry, machine_);
    if (sharing_.kind == SharingKind::mps) SLIPWAY_CHECK(check_mps(resource, choice.places, entry, machine_.gpus));
    const std::string name = shared_name(sharing_, entry, resource.name);
    for (const std::size_t each : choice.places) {
      if (left_[resource.name].places.erase(each) == 0) continue;  // an earlier entry has taken it
      put(resource_for(name, entry), resource.devices[each], entry.replicas);
    }
    const bool is_lost = std::ranges::any_of(choice.missing, &Missing::is_lost);
    if (is_lost && name != resource.name) resource_for(name, entry);  // kubelet gets an empty list
    missing_.insert(missing_.end(), choice.missing.begin(), choice.missing.end());
    return {};
  }

  /// Unshared devices keep their resource; a resource with both kinds lists both.
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
  Resource& resource_for(const std::string& name, const SharedResource& entry) {
    Resource& into = made_[name];
    into.name = name;
    into.sharing = sharing_.kind;
    into.replicas = std::max(into.replicas, entry.replicas);
    return into;
  }

  const Sharing& sharing_;
  const Machine& machine_;
  const Resources before_;
  std::vector<Missing>& missing_;
  std::map<std::string, Left> left_;
  Resources made_;
};

}  // namespace

Status share(const Settings& settings, const std::vector<Gpu>& gpus, const std::vector<AbsentGpu>& absent,
             Resources& resources, Remarks& remarks) {
  const Sharing& sharing = settings.sharing;
  if (sharing.kind == SharingKind::none) return {};
  const Machine machine{settings, gpus, absent};
  Sharer sharer(machine, resources, remarks.missing);
  for (const SharedResource& entry : sharing.resources) {
    bool found = false;
    for (const auto& [name, resource] : resources) {
      if (!entry.name.empty() && entry.name != name) continue;
      SLIPWAY_CHECK(sharer.share(resource, entry));
      found = true;
    }
    if (!found && !entry.name.empty() && entry.may_exist)
      remarks.notes.push_back(entry.where + ": there is no resource " + entry.name + " to share");
  }
  resources = sharer.take();
  for (const auto& [name, resource] : resources)
    if (resource.ids.size() > kMostReplicas)
      return wrong(entry_of(sharing, resource),
                   std::to_string(resource.ids.size()) + " replicas of " + name + " are more than kubelet accepts",
                   "stay at or below " + std::to_string(kMostReplicas) + " on all GPUs together");
  return {};
}

}  // namespace slipway::deviceplugin
