// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "gfd/labels/labels.hpp"
#include "gfd/labels/offers.hpp"

namespace slipway::gfd {
namespace {

std::string family_of(int major, int minor) {
  static const std::map<int, std::string> kFamilies{{1, "tesla"},      {2, "fermi"},      {3, "kepler"},
                                                    {5, "maxwell"},    {6, "pascal"},     {9, "hopper"},
                                                    {10, "blackwell"}, {12, "blackwell"}, {13, "rubin"}};
  if (major == 7) return minor < 5 ? "volta" : "turing";
  if (major == 8) return minor < 9 ? "ampere" : "ada-lovelace";
  const auto found = kFamilies.find(major);
  return found == kFamilies.end() ? "undefined" : found->second;
}

void put_shared(const std::string& prefix, const SharingLabels& shared, Labels& labels) {
  labels[prefix + ".replicas"] = std::to_string(shared.replicas);
  labels[prefix + ".sharing-strategy"] = shared.strategy;
}

/// Adds the number of shared and of exclusive devices of a resource that has both.
void put_split(const std::string& prefix, const std::vector<Part>& parts, Labels& labels) {
  const auto exclusive = std::ranges::count_if(parts, [](const Part& part) { return part.offer.replicas < 2; });
  const auto all = std::ssize(parts);
  if (exclusive == 0 || exclusive == all) return;
  labels[prefix + ".count.shared"] = std::to_string(all - exclusive);
  labels[prefix + ".count.exclusive"] = std::to_string(exclusive);
}

/// Returns the GPU that represents its model: the last GPU of the most frequent model; null: there is none of that
/// kind.
const Gpu* representative(const std::vector<const Gpu*>& gpus, bool mig) {
  std::map<std::string, unsigned> counts;
  for (const Gpu* gpu : gpus)
    if (gpu->mig_enabled == mig) ++counts[gpu->name];
  const Gpu* best = nullptr;
  for (const Gpu* gpu : gpus) {
    if (gpu->mig_enabled != mig) continue;
    if (best == nullptr || gpu->name == best->name || counts[gpu->name] > counts[best->name]) best = gpu;
  }
  return best;
}

unsigned count_of(const std::vector<const Gpu*>& gpus, const std::string& name) {
  return static_cast<unsigned>(std::ranges::count_if(gpus, [&name](const Gpu* gpu) { return gpu->name == name; }));
}

void add_gpu(const Gpu& gpu, unsigned count, const SharingLabels& shared, Labels& labels) {
  labels[kGpu + ".product"] = fitted(sanitised(gpu.name), shared.ending);
  labels[kGpu + ".count"] = std::to_string(count);
  put_shared(kGpu, shared, labels);
  if (gpu.memory_mib.value_or(0) > 0) labels[kGpu + ".memory"] = std::to_string(*gpu.memory_mib);
  if (gpu.compute_major == 0) return;
  labels[kGpu + ".family"] = family_of(gpu.compute_major, gpu.compute_minor);
  labels[kGpu + ".compute.major"] = std::to_string(gpu.compute_major);
  labels[kGpu + ".compute.minor"] = std::to_string(gpu.compute_minor);
}

void add_mig(const std::string& prefix, const Gpu& parent, const MigDevice& device, unsigned count,
             const SharingLabels& shared, Labels& labels) {
  labels[prefix + ".product"] = fitted(sanitised(parent.name), "-MIG-" + in_label(device.profile) + shared.ending);
  labels[prefix + ".count"] = std::to_string(count);
  put_shared(prefix, shared, labels);
  const nvmlDeviceAttributes_t& has = device.attributes;
  labels[prefix + ".memory"] = std::to_string(has.memorySizeMB);
  labels[prefix + ".multiprocessors"] = std::to_string(has.multiprocessorCount);
  labels[prefix + ".slices.gi"] = std::to_string(has.gpuInstanceSliceCount);
  labels[prefix + ".slices.ci"] = std::to_string(has.computeInstanceSliceCount);
  labels[prefix + ".engines.copy"] = std::to_string(has.sharedCopyEngineCount);
  labels[prefix + ".engines.decoder"] = std::to_string(has.sharedDecoderCount);
  labels[prefix + ".engines.encoder"] = std::to_string(has.sharedEncoderCount);
  labels[prefix + ".engines.jpeg"] = std::to_string(has.sharedJpegCount);
  labels[prefix + ".engines.ofa"] = std::to_string(has.sharedOfaCount);
}

/// Adds labels for a MIG layout that the strategy `single` cannot show as one kind of GPU.
void add_invalid(const Gpu& gpu, Labels& labels) {
  labels[kGpu + ".product"] = fitted(sanitised(gpu.name), "-MIG-INVALID");
  labels[kGpu + ".count"] = labels[kGpu + ".replicas"] = labels[kGpu + ".memory"] = "0";
  labels[kGpu + ".sharing-strategy"] = "";
}

void add_single(const std::vector<Gpu>& gpus, const Offers& offers, Labels& labels) {
  const Gpu* first = nullptr;
  bool valid = true;
  std::set<std::string> profiles;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled) continue;
    if (first == nullptr) first = &gpu;
    valid = valid && !gpu.mig.empty();
    for (const MigDevice& device : gpu.mig) profiles.insert(device.profile);
  }
  if (first == nullptr) return;
  valid = valid && std::ranges::all_of(gpus, &Gpu::mig_enabled) && profiles.size() == 1;
  if (!valid) return add_invalid(*first, labels);
  const std::vector<Part> parts = offers.labelled(kGpu);
  add_mig(kGpu, *parts.front().gpu, *parts.front().mig, static_cast<unsigned>(parts.size()), offers.shared(parts),
          labels);
  put_split(kGpu, parts, labels);
}

/// The first device of a profile represents all.
void add_mixed(const Offers& offers, Labels& labels) {
  for (const std::string& resource : offers.resources()) {
    if (resource == kGpu) continue;
    const std::vector<Part> parts = offers.labelled(resource);
    add_mig(resource, *parts.front().gpu, *parts.front().mig, static_cast<unsigned>(parts.size()), offers.shared(parts),
            labels);
    put_split(resource, parts, labels);
  }
}

/// Adds labels of the devices that sharing offers under another name than the rest of their resource.
void add_moved(const Offers& offers, Labels& labels) {
  for (const auto& [resource, parts] : offers.moved()) {
    const Part& first = parts.front();
    SharingLabels shared = offers.shared(parts);
    shared.ending.clear();
    const auto count = static_cast<unsigned>(parts.size());
    if (first.mig != nullptr) {
      add_mig(resource, *first.gpu, *first.mig, count, shared, labels);
      continue;
    }
    labels[resource + ".product"] = fitted(sanitised(first.gpu->name), "");
    labels[resource + ".count"] = std::to_string(count);
    if (first.gpu->memory_mib.value_or(0) > 0) labels[resource + ".memory"] = std::to_string(*first.gpu->memory_mib);
    put_shared(resource, shared, labels);
  }
}

/// Adds labels of whole GPUs; those in MIG mode come first, so that the labels of other GPUs override theirs.
void add_gpus(const std::vector<Gpu>& gpus, const Offers& offers, Labels& labels) {
  std::vector<const Gpu*> all;
  for (const Gpu& gpu : gpus) all.push_back(&gpu);
  if (const Gpu* gpu = representative(all, true)) add_gpu(*gpu, count_of(all, gpu->name), {.replicas = 0}, labels);
  std::vector<Part> parts = offers.labelled(kGpu);
  std::erase_if(all, [&parts](const Gpu* gpu) {
    return !gpu->mig_enabled && std::ranges::find(parts, gpu, &Part::gpu) == parts.end();
  });
  const Gpu* const gpu = representative(all, false);
  if (gpu == nullptr) return;
  std::erase_if(parts, [gpu](const Part& part) { return part.mig != nullptr || part.gpu->name != gpu->name; });
  add_gpu(*gpu, count_of(all, gpu->name), offers.shared(parts), labels);
  put_split(kGpu, parts, labels);
}

/// True when a device of an entry of `sharing` exists: "0", "0:1", or a UUID.
bool is_there(const std::vector<Gpu>& gpus, const std::string& device) {
  return std::ranges::any_of(gpus, [&device](const Gpu& gpu) {
    const std::string index = std::to_string(gpu.place.value_or(gpu.index));
    if (device == index || (!gpu.uuid.empty() && device == gpu.uuid)) return true;
    for (std::size_t i = 0; i < gpu.mig.size(); ++i)
      if (device == index + ":" + std::to_string(i) || device == gpu.mig[i].uuid) return true;
    return false;
  });
}

/// The UUID of a lost GPU is unknown.
bool may_be_lost(const std::vector<nvidia::AbsentGpu>& absent, const std::string& device) {
  const bool is_uuid = device.starts_with("GPU-") || device.starts_with("MIG-");
  const std::string number = device.substr(0, device.find(':'));
  return std::ranges::any_of(
      absent, [&](const nvidia::AbsentGpu& each) { return is_uuid || std::to_string(each.number) == number; });
}

}  // namespace

std::vector<std::string> unmatched_sharing(const std::vector<Gpu>& gpus, const Config& config,
                                           const std::vector<nvidia::AbsentGpu>& absent) {
  std::vector<std::string> unmatched;
  if (gpus.empty()) return unmatched;  // unknown without a driver
  std::set<std::string> resources = Offers(gpus, config).resources();
  resources.insert(config.named_resources.begin(), config.named_resources.end());
  for (const auto& entry : config.sharing.resources) {
    const auto add = [&](const std::string& what) { unmatched.push_back(entry.where + ": " + what); };
    if (!entry.name.empty() && entry.may_exist && !resources.contains(entry.name))
      add("there is no resource " + entry.name + " to share");
    for (const std::string& device : entry.devices.list)
      if (!is_there(gpus, device) && !may_be_lost(absent, device))
        add("there is no device " + device + " to share; deviceplugin refuses this config");
    for (const std::string& product : entry.devices.products)
      if (std::ranges::none_of(gpus, [&](const Gpu& gpu) { return nvidia::config::fits(product, gpu.name); }))
        add("no GPU here is a '" + product + "'");
  }
  return unmatched;
}

void add_resource_labels(const Snapshot& snapshot, const Config& config, Labels& labels) {
  const std::vector<Gpu>& gpus = snapshot.gpus;
  const Offers offers(gpus, config, snapshot.absent);
  add_gpus(gpus, offers, labels);
  if (config.mig_strategy != MigStrategy::none) labels["nvidia.com/mig.strategy"] = to_string(config.mig_strategy);
  if (config.mig_strategy == MigStrategy::single) add_single(gpus, offers, labels);
  if (config.mig_strategy == MigStrategy::mixed) add_mixed(offers, labels);
  add_moved(offers, labels);
}

}  // namespace slipway::gfd
