// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "gfd/labels/labels.hpp"

namespace slipway::gfd {
namespace {

const std::string kGpu = "nvidia.com/gpu";
const std::string kMig = "nvidia.com/mig-";

std::string family_of(int major, int minor) {
  static const std::map<int, std::string> kFamilies{{1, "tesla"},      {2, "fermi"},      {3, "kepler"},
                                                    {5, "maxwell"},    {6, "pascal"},     {9, "hopper"},
                                                    {10, "blackwell"}, {12, "blackwell"}, {13, "rubin"}};
  if (major == 7) return minor < 5 ? "volta" : "turing";
  if (major == 8) return minor < 9 ? "ampere" : "ada-lovelace";
  const auto found = kFamilies.find(major);
  return found == kFamilies.end() ? "undefined" : found->second;
}

/// How a resource is shared, as its labels say it.
struct Shared {
  unsigned replicas = 1;
  std::string strategy = "none";
  std::string ending;  ///< of the product
};

/// By the first entry that is about the resource, and about this GPU's model.
Shared shared_of(const nvidia::config::Sharing& sharing, const std::string& resource, const Gpu& gpu) {
  for (const auto& entry : sharing.resources) {
    const auto fitting = [&gpu](const std::string& pattern) { return nvidia::config::fits(pattern, gpu.name); };
    const auto& products = entry.devices.products;
    if (!entry.name.empty() && entry.name != resource) continue;
    if (!products.empty() && std::ranges::none_of(products, fitting)) continue;
    const bool renamed = sharing.rename_by_default || !entry.rename.empty();
    return {entry.replicas, std::string(to_string(sharing.kind)), renamed ? "" : "-SHARED"};
  }
  return {};
}

void put_shared(const std::string& prefix, const Shared& shared, Labels& labels) {
  labels[prefix + ".replicas"] = std::to_string(shared.replicas);
  labels[prefix + ".sharing-strategy"] = shared.strategy;
}

/// The GPU that stands for its model: the most numerous model's last; null: none is of that kind.
const Gpu* representative(const std::vector<Gpu>& gpus, bool mig) {
  std::map<std::string, unsigned> counts;
  for (const Gpu& gpu : gpus)
    if (gpu.mig_enabled == mig) ++counts[gpu.name];
  const Gpu* best = nullptr;
  for (const Gpu& gpu : gpus) {
    if (gpu.mig_enabled != mig) continue;
    if (best == nullptr || gpu.name == best->name || counts[gpu.name] > counts[best->name]) best = &gpu;
  }
  return best;
}

unsigned count_of(const std::vector<Gpu>& gpus, const std::string& name) {
  return static_cast<unsigned>(std::ranges::count(gpus, name, &Gpu::name));
}

void add_gpu(const std::vector<Gpu>& gpus, const Gpu& gpu, const Shared& shared, Labels& labels) {
  labels[kGpu + ".product"] = fitted(sanitised(gpu.name), shared.ending);
  labels[kGpu + ".count"] = std::to_string(count_of(gpus, gpu.name));
  put_shared(kGpu, shared, labels);
  if (gpu.memory_mib.value_or(0) > 0) labels[kGpu + ".memory"] = std::to_string(*gpu.memory_mib);
  if (gpu.compute_major == 0) return;
  labels[kGpu + ".family"] = family_of(gpu.compute_major, gpu.compute_minor);
  labels[kGpu + ".compute.major"] = std::to_string(gpu.compute_major);
  labels[kGpu + ".compute.minor"] = std::to_string(gpu.compute_minor);
}

std::string in_label(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return profile;
}

void add_mig(const std::string& prefix, const Gpu& parent, const MigDevice& device, unsigned count,
             const Shared& shared, Labels& labels) {
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

/// A MIG layout that the strategy `single` cannot show as one kind of GPU.
void add_invalid(const Gpu& gpu, Labels& labels) {
  labels[kGpu + ".product"] = fitted(sanitised(gpu.name), "-MIG-INVALID");
  labels[kGpu + ".count"] = labels[kGpu + ".replicas"] = labels[kGpu + ".memory"] = "0";
  labels[kGpu + ".sharing-strategy"] = "";
}

void add_single(const std::vector<Gpu>& gpus, const Config& config, Labels& labels) {
  const Gpu* first = nullptr;
  bool valid = true;
  unsigned count = 0;
  std::set<std::string> profiles;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled) continue;
    if (first == nullptr) first = &gpu;
    valid = valid && !gpu.mig.empty();
    count += static_cast<unsigned>(gpu.mig.size());
    for (const MigDevice& device : gpu.mig) profiles.insert(device.profile);
  }
  if (first == nullptr) return;
  valid = valid && std::ranges::all_of(gpus, &Gpu::mig_enabled) && profiles.size() == 1;
  if (!valid) return add_invalid(*first, labels);
  add_mig(kGpu, *first, first->mig.front(), count, shared_of(config.sharing, kGpu, *first), labels);
}

void add_mixed(const std::vector<Gpu>& gpus, const Config& config, Labels& labels) {
  std::map<std::string, unsigned> counts;
  for (const Gpu& gpu : gpus)
    for (const MigDevice& device : gpu.mig) ++counts[device.profile];
  for (const Gpu& gpu : gpus)
    for (const MigDevice& device : gpu.mig) {
      const std::string resource = kMig + in_label(device.profile);
      if (labels.count(resource + ".count") != 0) continue;  // the first of a profile stands for all
      add_mig(resource, gpu, device, counts[device.profile], shared_of(config.sharing, resource, gpu), labels);
    }
}

/// As an entry of `sharing` names devices: "0", "0:1", or a UUID.
bool is_there(const std::vector<Gpu>& gpus, const std::string& device) {
  return std::ranges::any_of(gpus, [&device](const Gpu& gpu) {
    const std::string index = std::to_string(gpu.index);
    if (device == index || (!gpu.uuid.empty() && device == gpu.uuid)) return true;
    for (std::size_t i = 0; i < gpu.mig.size(); ++i)
      if (device == index + ":" + std::to_string(i) || device == gpu.mig[i].uuid) return true;
    return false;
  });
}

/// The resources that deviceplugin would offer of these GPUs by the same config.
std::set<std::string> resources_of(const std::vector<Gpu>& gpus, const Config& config) {
  std::set<std::string> resources = config.named_resources;
  for (const Gpu& gpu : gpus) {
    const bool whole = config.mig_strategy != MigStrategy::mixed || !gpu.mig_enabled;
    if (whole) resources.insert(kGpu);
    for (const MigDevice& device : gpu.mig)
      if (!whole) resources.insert(kMig + in_label(device.profile));
  }
  return resources;
}

}  // namespace

std::vector<std::string> unmatched_sharing(const std::vector<Gpu>& gpus, const Config& config) {
  std::vector<std::string> unmatched;
  if (gpus.empty()) return unmatched;  // without a driver nobody can tell
  const std::set<std::string> resources = resources_of(gpus, config);
  for (const auto& entry : config.sharing.resources) {
    const auto add = [&](const std::string& what) { unmatched.push_back(entry.where + ": " + what); };
    if (!entry.name.empty() && !resources.contains(entry.name)) add("there is no resource " + entry.name + " to share");
    for (const std::string& device : entry.devices.list)
      if (!is_there(gpus, device)) add("there is no device " + device + " to share, and deviceplugin refuses this");
    for (const std::string& product : entry.devices.products)
      if (std::ranges::none_of(gpus, [&](const Gpu& gpu) { return nvidia::config::fits(product, gpu.name); }))
        add("no GPU here is a '" + product + "'");
  }
  return unmatched;
}

void add_resource_labels(const std::vector<Gpu>& gpus, const Config& config, Labels& labels) {
  if (const Gpu* gpu = representative(gpus, true)) add_gpu(gpus, *gpu, Shared{.replicas = 0}, labels);
  if (const Gpu* gpu = representative(gpus, false)) add_gpu(gpus, *gpu, shared_of(config.sharing, kGpu, *gpu), labels);
  if (config.mig_strategy == MigStrategy::none) return;
  labels["nvidia.com/mig.strategy"] = to_string(config.mig_strategy);
  if (config.mig_strategy == MigStrategy::single) add_single(gpus, config, labels);
  if (config.mig_strategy == MigStrategy::mixed) add_mixed(gpus, config, labels);
}

}  // namespace slipway::gfd
