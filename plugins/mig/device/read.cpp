// SPDX-License-Identifier: Apache-2.0
#include "mig/device/read.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nvidia/gpu.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {
namespace {

namespace nvml = nvidia::nvml;

constexpr std::uint32_t kA30 = 0x20B710DE;
/// A GPU instance has at most as many compute instances.
constexpr unsigned kMostComputeInstances = 8;

Error failed(nvmlReturn_t code, const std::string& doing, const std::string& gpu) {
  return nvml::to_error(code, doing, gpu);
}

/// The driver counts the instances of an A30 wrong; these are the counts that NVIDIA publishes for it.
unsigned known_max(const DeviceId& id, const Profile& profile, unsigned reported) {
  if (id.chip != kA30) return reported;
  if (!profile.attributes.empty()) return 1;
  return 4 / profile.gpu_slices;
}

Result<InstanceProfile> read_profile(nvml::Nvml& nvml, nvmlDevice_t device, const Gpu& gpu,
                                     const nvml::GpuInstanceProfile& from, std::uint64_t total_bytes) {
  nvmlDeviceAttributes_t attributes{};
  attributes.computeInstanceSliceCount = from.slices;
  attributes.gpuInstanceSliceCount = from.slices;
  attributes.memorySizeMB = from.memory_mib;
  SLIPWAY_TRY(name, parse_profile(nvml::mig_profile_name(attributes, total_bytes, from.selector), gpu.text()));
  InstanceProfile profile{.profile = name,
                          .selector = from.selector,
                          .id = from.id,
                          .max = known_max(gpu.id, name, from.max_instances),
                          .size = 0,
                          .starts = {}};
  const auto places = nvml::placements(nvml, device, from.id);
  if (!places) return failed(places.code(), "list the placements of " + name.text(), gpu.text());
  for (const nvmlGpuInstancePlacement_t& place : *places) {
    profile.size = place.size;
    profile.starts.push_back(place.start);
  }
  std::ranges::sort(profile.starts);
  return profile;
}

Status read_profiles(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  const auto total = nvml::memory_total(nvml, device);
  if (!total && !total.absent()) return failed(total.code(), "read the size of the memory", gpu.text());
  const auto profiles = nvml::gpu_instance_profiles(nvml, device);
  if (!profiles) return failed(profiles.code(), "list the MIG profiles", gpu.text());
  for (const nvml::GpuInstanceProfile& each : *profiles) {
    SLIPWAY_TRY(profile, read_profile(nvml, device, gpu, each, total.value_or(0)));
    const bool is_usable = !profile.starts.empty() && profile.size != 0;
    if (is_usable && gpu.find(profile.profile) == nullptr) gpu.profiles.push_back(std::move(profile));
  }
  return {};
}

Status read_identity(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  const auto index = nvml::device_index(nvml, device);
  if (!index) return failed(index.code(), "read the index of a GPU", {});
  gpu.index = *index;
  const auto pci = nvml::device_pci(nvml, device);
  if (!pci) return failed(pci.code(), fmt::format("read the PCI address of GPU {}", *index), {});
  gpu.address = pci->address;
  gpu.id.chip = static_cast<std::uint32_t>(pci->device) << 16U | nvidia::kVendor;
  gpu.id.board = static_cast<std::uint32_t>(pci->subsystem_device) << 16U | pci->subsystem_vendor;
  const auto uuid = nvml::device_uuid(nvml, device);
  if (!uuid) return failed(uuid.code(), "read the UUID", gpu.text());
  gpu.uuid = *uuid;
  gpu.name = nvml::device_name(nvml, device).value_or("GPU");
  return {};
}

Result<InstanceHandle> read_instance(nvml::Nvml& nvml, nvmlGpuInstance_t handle, const InstanceProfile& profile,
                                     const std::string& gpu) {
  const auto info = nvml::gpu_instance_info(nvml, handle);
  if (!info) return failed(info.code(), "read a GPU instance", gpu);
  InstanceHandle read{.instance = {.start = info->placement.start, .profile_id = profile.id, .compute = {}},
                      .handle = handle,
                      .id = info->id,
                      .compute = {}};
  unsigned slices = 0;
  for (unsigned id = 0; id < kMostComputeInstances && slices < profile.profile.gpu_slices; ++id) {
    const auto part = nvml::compute_instance_by_id(nvml, handle, id);
    if (part.code() == NVML_ERROR_NOT_FOUND) continue;
    if (!part) return failed(part.code(), "find a compute instance", gpu);
    const auto shape = nvml::compute_instance_info(nvml, *part);
    if (!shape) return failed(shape.code(), "read a compute instance", gpu);
    const ComputeInstance compute{shape->placement.start, shape->placement.size};
    read.compute.push_back({compute, *part, id});
    read.instance.compute.push_back(compute);
    slices += compute.slices;
  }
  std::ranges::sort(read.instance.compute);
  return read;
}

}  // namespace

Result<std::unique_ptr<nvml::Nvml>> open_nvml(const Host& host, const std::string& driver_root,
                                              std::chrono::milliseconds call_limit) {
  SLIPWAY_TRY(library, nvml::choose_library(host, driver_root.empty() ? "/" : driver_root));
  return nvml::Nvml::open({.library = library, .call_limit = call_limit});
}

Result<std::vector<InstanceHandle>> read_instances(nvml::Nvml& nvml, nvmlDevice_t device,
                                                   const std::vector<InstanceProfile>& profiles,
                                                   const std::string& gpu) {
  std::vector<InstanceHandle> all;
  for (const InstanceProfile& profile : profiles) {
    const auto handles = nvml::gpu_instances(
        nvml, device, nvml::GpuInstanceProfile{.id = profile.id, .max_instances = profile.max, .name = {}});
    if (handles.absent()) continue;
    if (!handles) return failed(handles.code(), "list the instances of " + profile.profile.text(), gpu);
    for (nvmlGpuInstance_t handle : *handles) {
      SLIPWAY_TRY(instance, read_instance(nvml, handle, profile, gpu));
      all.push_back(std::move(instance));
    }
  }
  std::ranges::sort(all, {}, &InstanceHandle::instance);
  return all;
}

Status refresh(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  gpu.instances.clear();
  const auto mode = nvml::mig_mode(nvml, device);
  if (mode.absent()) return {};
  if (!mode) return failed(mode.code(), "read the MIG mode", gpu.text());
  gpu.capable = true;
  gpu.enabled = mode->current;
  gpu.pending = mode->pending;
  if (gpu.profiles.empty()) SLIPWAY_CHECK(read_profiles(nvml, device, gpu));
  if (!gpu.enabled) return {};
  SLIPWAY_TRY(instances, read_instances(nvml, device, gpu.profiles, gpu.text()));
  for (const InstanceHandle& each : instances) gpu.instances.push_back(each.instance);
  return {};
}

Result<Gpu> read_gpu(nvml::Nvml& nvml, nvmlDevice_t device) {
  Gpu gpu;
  SLIPWAY_CHECK(read_identity(nvml, device, gpu));
  SLIPWAY_CHECK(refresh(nvml, device, gpu));
  return gpu;
}

namespace {

/// Those with equal answers about their profiles.
bool is_same_model(const Gpu& one, const Gpu& other) { return one.id == other.id && one.name == other.name; }

Result<Gpu> read_known(nvml::Nvml& nvml, unsigned index) {
  const auto device = nvml::device_at(nvml, index);
  if (!device) return failed(device.code(), "open a GPU", fmt::format("GPU {}", index));
  Gpu gpu;
  SLIPWAY_CHECK(read_identity(nvml, *device, gpu));
  return gpu;
}

Status read_rest(nvml::Nvml& nvml, Gpu& gpu) {
  const auto device = nvml::device_by_uuid(nvml, gpu.uuid);
  if (!device) return failed(device.code(), "open a GPU", gpu.text());
  return refresh(nvml, *device, gpu);
}

}  // namespace

Result<std::vector<Gpu>> read_gpus(nvml::Nvml& nvml) {
  const auto count = nvml::device_count(nvml);
  if (!count) return failed(count.code(), "count the GPUs", {});
  std::vector<Result<Gpu>> read(*count, Gpu{});
  nvml::in_parallel(nvml, *count,
                    [&](nvml::Nvml& own, std::size_t i) { read[i] = read_known(own, static_cast<unsigned>(i)); });
  std::vector<Gpu> gpus;
  for (Result<Gpu>& each : read) {
    if (!each) return std::move(each).error();
    gpus.push_back(std::move(*each));
  }
  // The first of each model is asked for its profiles, which takes most of the calls; the others have them from it.
  std::vector<std::size_t> first;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto before =
        std::ranges::find_if(first, [&](std::size_t each) { return is_same_model(gpus[each], gpus[i]); });
    (before == first.end() ? first : others).push_back(i);
  }
  for (const std::vector<std::size_t>* each : {&first, &others}) {
    std::vector<Status> done(each->size());
    nvml::in_parallel(nvml, each->size(),
                      [&](nvml::Nvml& own, std::size_t i) { done[i] = read_rest(own, gpus[(*each)[i]]); });
    for (Status& status : done)
      if (!status) return std::move(status).error();
    if (each == &first)
      for (const std::size_t other : others)
        for (const std::size_t model : first)
          if (is_same_model(gpus[model], gpus[other])) gpus[other].profiles = gpus[model].profiles;
  }
  return gpus;
}

}  // namespace slipway::mig
