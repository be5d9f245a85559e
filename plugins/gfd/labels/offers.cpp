// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/offers.hpp"

#include <algorithm>

namespace slipway::gfd {
namespace {

nvidia::config::Shareable shareable(const Part& part) {
  const std::string index = std::to_string(part.gpu->place.value_or(part.gpu->index));
  if (part.mig == nullptr) return {.index = index, .uuid = part.gpu->uuid, .product = part.gpu->name};
  const auto place = part.mig - part.gpu->mig.data();
  return {.index = index + ":" + std::to_string(place), .uuid = part.mig->uuid, .product = part.gpu->name};
}

std::map<std::string, std::vector<Part>> parts_of(const std::vector<Gpu>& gpus, const Config& config) {
  std::map<std::string, std::vector<Part>> parts;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled || config.mig_strategy == MigStrategy::none) {
      parts[kGpu].push_back(
          {.gpu = &gpu, .mig = nullptr, .named = first_fit(config.gpu_names, gpu.name, kGpu), .offer = {}});
      continue;
    }
    for (const MigDevice& device : gpu.mig) {
      const std::string resource = config.mig_strategy == MigStrategy::single ? kGpu : kMig + in_label(device.profile);
      parts[resource].push_back(
          {.gpu = &gpu, .mig = &device, .named = first_fit(config.mig_names, device.profile, resource), .offer = {}});
    }
  }
  return parts;
}

/// The order is deviceplugin's: `devices: 4` means the first four.
bool comes_before(const Part* one, const Part* other) {
  return one->gpu != other->gpu ? one->gpu < other->gpu : one->mig < other->mig;
}

/// True when some devices stay in their resource, and some do not.
bool is_split(const std::vector<Part>& parts) {
  return std::ranges::any_of(parts, &Part::is_moved) && !std::ranges::all_of(parts, &Part::is_moved);
}

bool goes_to_several(const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, &Part::is_moved) && std::ranges::any_of(parts, [&](const Part& part) {
           return part.offer.resource != parts.front().offer.resource;
         });
}

}  // namespace

std::string in_label(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return profile;
}

Offers::Offers(const std::vector<Gpu>& gpus, const Config& config, const std::vector<nvidia::AbsentGpu>& absent)
    : sharing_(config.sharing), parts_(parts_of(gpus, config)) {
  std::map<std::string, std::vector<Part*>> by_name;
  for (auto& [resource, parts] : parts_)
    for (Part& part : parts) by_name[part.named].push_back(&part);
  for (auto& [name, parts] : by_name) {
    std::ranges::sort(parts, comes_before);
    std::vector<nvidia::config::Shareable> devices;
    for (const Part* part : parts) devices.push_back(shareable(*part));
    for (const nvidia::AbsentGpu& each : absent) {
      if (first_fit(config.gpu_names, each.product, kGpu) != name) continue;
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i]->gpu->place.value_or(parts[i]->gpu->index) > each.number) ++devices[i].lost_before;
    }
    const auto offers = offers_of(sharing_, name, devices);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->offer = offers[i];
  }
}

std::set<std::string> Offers::resources() const {
  std::set<std::string> names;
  for (const auto& [name, parts] : parts_) names.insert(name);
  return names;
}

std::vector<Part> Offers::labelled(const std::string& resource) const {
  const auto found = parts_.find(resource);
  if (found == parts_.end()) return {};
  std::vector<Part> parts = found->second;
  if (is_split(parts)) std::erase_if(parts, [](const Part& part) { return part.is_moved(); });
  return parts;
}

std::map<std::string, std::vector<Part>> Offers::moved() const {
  std::map<std::string, std::vector<Part>> moved;
  for (const auto& [resource, parts] : parts_) {
    if (!is_split(parts) && !goes_to_several(parts)) continue;
    for (const Part& part : parts)
      if (part.is_moved()) moved[part.offer.resource].push_back(part);
  }
  return moved;
}

SharingLabels Offers::shared(const std::vector<Part>& parts) const {
  const auto most = std::ranges::max_element(parts, {}, [](const Part& part) { return part.offer.replicas; });
  if (most->offer.replicas < 2) return {};
  return {most->offer.replicas, std::string(to_string(sharing_.kind)), most->is_moved() ? "" : "-SHARED"};
}

}  // namespace slipway::gfd
