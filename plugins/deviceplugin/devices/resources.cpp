// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/resources.hpp"

#include <algorithm>
#include <charconv>

namespace slipway::deviceplugin {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

Device device_of(const Gpu& gpu, std::size_t position) {
  return {.uuid = gpu.uuid,
          .index = std::to_string(gpu.index),
          .gpu = gpu.uuid,
          .position = position,
          .numa_node = gpu.numa_node,
          .memory_bytes = gpu.memory_bytes,
          .paths = {gpu.path()}};
}

Device device_of(const Gpu& gpu, const MigDevice& mig, std::size_t position) {
  Device device = device_of(gpu, position);
  device.uuid = mig.uuid;
  device.index += ":" + std::to_string(mig.index);
  device.gpu_instance = mig.gpu_instance;
  device.compute_instance = mig.compute_instance;
  device.mig = true;
  device.memory_bytes = mig.memory_bytes;
  device.paths.insert(device.paths.end(), mig.paths.begin(), mig.paths.end());
  return device;
}

/// '+' is not allowed in a resource name.
std::string mig_resource(const std::string& profile) {
  std::string name = "nvidia.com/mig-" + profile;
  std::ranges::replace(name, '+', '.');
  return name;
}

/// The strategy `single` offers every MIG device as a GPU, which requires that all are alike.
Status check_single(std::vector<Gpu> gpus) {
  std::erase_if(gpus, [](const Gpu& gpu) { return !gpu.offered; });
  const auto wrong = [](const std::string& what) -> Status {
    return Error{.code = ErrorCode::not_found,
                 .what = "MIG strategy single does not fit this machine: " + what,
                 .where = "flags.migStrategy",
                 .next = "use mixed, or give all GPUs the same MIG layout"};
  };
  const Gpu* first = nullptr;
  for (const Gpu& gpu : gpus) {
    if (gpu.mig_enabled != gpus.front().mig_enabled)
      return wrong(gpu.label() + " and " + gpus.front().label() + " do not have the same MIG mode");
    if (gpu.mig_enabled && gpu.mig_devices.empty())
      return wrong(gpu.label() + " is in MIG mode and has no MIG devices");
    for (const MigDevice& device : gpu.mig_devices) {
      if (first == nullptr) first = &gpu;
      if (device.profile != first->mig_devices.front().profile)
        return wrong(gpu.label() + " has a " + device.profile + ", " + first->label() + " a " +
                     first->mig_devices.front().profile);
    }
  }
  return {};
}

class Offer {
 public:
  Offer(const Settings& settings, std::vector<std::string>& notes) : settings_(settings), notes_(notes) {}

  void add(const Gpu& gpu, std::size_t position) {
    if (!gpu.offered) return notes_.push_back(gpu.label() + " has another manager: not offered");
    if (!gpu.mig_enabled || settings_.mig_strategy == MigStrategy::none) {
      if (gpu.mig_enabled)
        notes_.push_back(gpu.label() +
                         " is in MIG mode and offered whole: programs see only its MIG devices; set "
                         "migStrategy to single or mixed");
      return put(first_fit(settings_.gpu_names, gpu.product, kGpu), device_of(gpu, position));
    }
    if (gpu.mig_devices.empty()) notes_.push_back(gpu.label() + " is in MIG mode and has no MIG devices: not offered");
    for (const MigDevice& mig : gpu.mig_devices) {
      const std::string otherwise = settings_.mig_strategy == MigStrategy::single ? kGpu : mig_resource(mig.profile);
      put(first_fit(settings_.mig_names, mig.profile, otherwise), device_of(gpu, mig, position));
    }
  }
  Resources take() { return std::move(resources_); }

 private:
  void put(const std::string& name, Device device) {
    Resource& resource = resources_[name];
    resource.name = name;
    resource.ids.push_back({device.uuid, resource.devices.size()});
    resource.devices.push_back(std::move(device));
  }

  const Settings& settings_;
  std::vector<std::string>& notes_;
  Resources resources_;
};

}  // namespace

// Ids of a device are adjacent, in the order of the devices and their numbers.
const Id* Resource::find(std::string_view id) const {
  const std::string_view uuid = without_replica(id);
  const auto device = std::ranges::find(devices, uuid, &Device::uuid);
  if (device == devices.end()) return nullptr;
  const auto place = static_cast<std::size_t>(device - devices.begin());
  const auto first = std::ranges::lower_bound(ids, place, {}, &Id::device);
  const auto last = std::ranges::upper_bound(ids, place, {}, &Id::device);
  std::size_t number = 0;
  if (uuid.size() != id.size()) {
    const std::string_view digits = id.substr(uuid.size() + 2);
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
  }
  if (number >= static_cast<std::size_t>(last - first)) return nullptr;
  const Id& found = *(first + static_cast<std::ptrdiff_t>(number));
  return found.id == id ? &found : nullptr;
}

std::string_view without_replica(std::string_view id) { return id.substr(0, id.find("::")); }

Result<Resources> make_resources(const std::vector<Gpu>& gpus, const Settings& settings, Remarks& remarks,
                                 const std::vector<AbsentGpu>& absent) {
  if (settings.mig_strategy == MigStrategy::single) SLIPWAY_CHECK(check_single(gpus));
  Offer offer(settings, remarks.notes);
  for (std::size_t position = 0; position < gpus.size(); ++position) offer.add(gpus[position], position);
  Resources resources = offer.take();
  SLIPWAY_CHECK(share(settings, gpus, absent, resources, remarks));
  return resources;
}

}  // namespace slipway::deviceplugin
