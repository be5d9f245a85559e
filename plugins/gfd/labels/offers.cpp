// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/offers.hpp"

#include <algorithm>

namespace slipway::gfd {
namespace {

nvidia::config::Shareable shareable(const Part& part) {
  const std::string index = std::to_string(part.gpu->index);
  if (part.mig == nullptr) return {.index = index, .uuid = part.gpu->uuid, .product = part.gpu->name};
  const auto place = part.mig - part.gpu->mig.data();
  return {.index = index + ":" + std::to_string(place), .uuid = part.mig->uuid, .product = part.gpu->name};
}

std::map<std::string, std::vector<Part>> parts_of(const std::vector<Gpu>& gpus, MigStrategy strategy) {
  std::map<std::string, std::vector<Part>> parts;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled || strategy == MigStrategy::none) {
      parts[kGpu].push_back({.gpu = &gpu, .mig = nullptr, .offer = {}});
      continue;
    }
    for (const MigDevice& device : gpu.mig) {
      const std::string resource = strategy == MigStrategy::single ? kGpu : kMig + in_label(device.profile);
      parts[resource].push_back({.gpu = &gpu, .mig = &device, .offer = {}});
    }
  }
  return parts;
}

}  // namespace

std::string in_label(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return profile;
}

Offers::Offers(const std::vector<Gpu>& gpus, const Config& config)
    : sharing_(config.sharing), parts_(parts_of(gpus, config.mig_strategy)) {
  for (auto& [resource, parts] : parts_) {
    std::vector<nvidia::config::Shareable> devices;
    for (const Part& part : parts) devices.push_back(shareable(part));
    const auto offers = offers_of(sharing_, resource, devices);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].offer = offers[i];
  }
}

std::set<std::string> Offers::resources() const {
  std::set<std::string> names;
  for (const auto& [name, parts] : parts_) names.insert(name);
  return names;
}

bool Offers::is_split(const std::vector<Part>& parts, const std::string& resource) const {
  const auto stays = [&resource](const Part& part) { return part.offer.resource == resource; };
  return std::ranges::any_of(parts, stays) && !std::ranges::all_of(parts, stays);
}

std::vector<Part> Offers::labelled(const std::string& resource) const {
  const auto found = parts_.find(resource);
  if (found == parts_.end()) return {};
  std::vector<Part> parts = found->second;
  if (is_split(parts, resource))
    std::erase_if(parts, [&resource](const Part& part) { return part.offer.resource != resource; });
  return parts;
}

std::map<std::string, std::vector<Part>> Offers::moved() const {
  std::map<std::string, std::vector<Part>> moved;
  for (const auto& [resource, parts] : parts_)
    for (const Part& part : parts)
      if (is_split(parts, resource) && part.offer.resource != resource) moved[part.offer.resource].push_back(part);
  return moved;
}

Shared Offers::shared(const std::string& resource, const std::vector<Part>& parts) const {
  const auto most = std::ranges::max_element(parts, {}, [](const Part& part) { return part.offer.replicas; });
  if (most->offer.replicas < 2) return {};
  const bool renamed = most->offer.resource != resource;
  return {most->offer.replicas, std::string(to_string(sharing_.kind)), renamed ? "" : "-SHARED"};
}

}  // namespace slipway::gfd
