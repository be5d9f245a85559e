// SPDX-License-Identifier: Apache-2.0
#include "mig/device/read.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "nvidia/gpu.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {
namespace {

namespace nvml = nvidia::nvml;

constexpr std::uint32_t kA30 = 0x20B710DE;
/// The compute capability of Hopper, whose mode changes without a reset of the GPU.
constexpr int kFirstWithoutReset = 9;
/// NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED
constexpr unsigned kResetlessField = 184;

Error failed(nvmlReturn_t code, const std::string& doing, const std::string& gpu) {
  return nvml::to_error(code, doing, gpu);
}

/// The driver reports wrong counts for the instances of an A30; these are the counts that NVIDIA publishes.
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
  const auto pci = nvml::device_pci(nvml, device);
  if (!pci) return failed(pci.code(), fmt::format("read the PCI address of GPU {}", gpu.index), {});
  gpu.address = pci->address;
  gpu.id.chip = static_cast<std::uint32_t>(pci->device) << 16U | nvidia::kVendor;
  gpu.id.board = static_cast<std::uint32_t>(pci->subsystem_device) << 16U | pci->subsystem_vendor;
  const auto uuid = nvml::device_uuid(nvml, device);
  if (!uuid) return failed(uuid.code(), "read the UUID", gpu.text());
  gpu.uuid = *uuid;
  return {};
}

Status read_mode(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  const auto mode = nvml::mig_mode(nvml, device);
  if (mode.absent()) return {};
  if (!mode) return failed(mode.code(), "read the MIG mode", gpu.text());
  gpu.capable = true;
  gpu.enabled = mode->current;
  gpu.pending = mode->pending;
  return {};
}

/// Uses the driver's answer; drivers before branch 535 have none, and from Hopper on no GPU needs a reset.
bool needs_reset(nvml::Nvml& nvml, nvmlDevice_t device) {
  const auto fields = nvml::field_values(nvml, device, {kResetlessField});
  if (fields && fields->size() == 1 && fields->front().nvmlReturn == NVML_SUCCESS)
    return nvml::number_of(fields->front()) == 0;
  const auto capability = nvml::compute_capability(nvml, device);
  return !capability || capability->major < kFirstWithoutReset;
}

/// Reads the properties that all GPUs of one model share.
Status read_model(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  gpu.name = nvml::device_name(nvml, device).value_or("GPU");
  if (!gpu.capable) return {};
  gpu.needs_reset = needs_reset(nvml, device);
  return read_profiles(nvml, device, gpu);
}

void take_model(Gpu& gpu, const Gpu& from) {
  gpu.name = from.name;
  gpu.needs_reset = from.needs_reset;
  gpu.profiles = from.profiles;
}

/// Reads the GPU's instances, if it has any.
Result<std::vector<InstanceHandle>> read_layout(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  gpu.instances.clear();
  if (!gpu.enabled) return std::vector<InstanceHandle>();
  SLIPWAY_TRY(handles, read_instances(nvml, device, gpu.profiles, gpu.text()));
  for (const InstanceHandle& each : handles) gpu.instances.push_back(each.instance);
  return handles;
}

}  // namespace

Result<std::unique_ptr<nvml::Nvml>> open_nvml(const Host& host, const std::string& driver_root,
                                              std::chrono::milliseconds call_limit) {
  SLIPWAY_TRY(library, nvml::choose_library(host, driver_root.empty() ? "/" : driver_root));
  return nvml::Nvml::open(
      {.library = library, .call_limit = call_limit, .find_hanging = true, .changes = call_limit >= kChangeLimit});
}

Result<std::unique_ptr<nvml::Nvml>> open_nvml_to_look(const Host& host) {
  SLIPWAY_TRY(library, nvml::choose_library(host));
  return nvml::Nvml::open({.library = library, .until_exit = true, .find_hanging = true});
}

Result<std::vector<InstanceHandle>> refresh(nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu) {
  SLIPWAY_CHECK(read_mode(nvml, device, gpu));
  if (gpu.capable && gpu.profiles.empty()) SLIPWAY_CHECK(read_model(nvml, device, gpu));
  return read_layout(nvml, device, gpu);
}

namespace {

/// True for GPUs whose profiles are equal.
bool is_same_model(const Gpu& one, const Gpu& other) { return one.id == other.id; }

/// Returns one GPU of each model, preferably with MIG enabled: older drivers report profiles only for such a GPU.
std::vector<std::size_t> one_of_each_model(const std::vector<OpenGpu>& gpus) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].gpu.lost) continue;
    const auto before =
        std::ranges::find_if(chosen, [&](std::size_t each) { return is_same_model(gpus[each].gpu, gpus[i].gpu); });
    if (before == chosen.end())
      chosen.push_back(i);
    else if (gpus[i].gpu.enabled && !gpus[*before].gpu.enabled)
      *before = i;
  }
  return chosen;
}

void give_up(OpenGpu& gpu, nvmlReturn_t why) {
  gpu = {.device = nullptr,
         .gpu = {.index = gpu.gpu.index, .address = gpu.gpu.address, .lost = true, .hangs = why == nvml::kGaveUp}};
}

/// True when NVML says that the GPU cannot be reached, or its call hangs.
bool is_lost(nvmlReturn_t code) { return code == NVML_ERROR_GPU_IS_LOST || code == nvml::kGaveUp; }

/// Returns the reason of a failed call: a GPU may be lost at any moment.
nvmlReturn_t reason_of(nvml::Nvml& nvml, const OpenGpu& gpu) {
  return gpu.device == nullptr ? NVML_SUCCESS : nvml::mig_mode(nvml, gpu.device).code();
}

/// Calls `work(nvml, gpu)` for GPUs that are not lost, in parallel.
template <class Work>
Status for_each(nvml::Nvml& nvml, std::vector<OpenGpu>& gpus, const std::vector<std::size_t>& which, Work work) {
  std::vector<Status> done(which.size());
  nvml::in_parallel(nvml, which.size(), [&](nvml::Nvml& own, std::size_t i) {
    OpenGpu& gpu = gpus[which[i]];
    if (gpu.gpu.lost) return;
    done[i] = work(own, gpu);
    if (done[i]) return;
    const nvmlReturn_t why = reason_of(own, gpu);
    if (!is_lost(why)) return;
    give_up(gpu, why);
    done[i] = {};
  });
  for (Status& each : done)
    if (!each) return std::move(each);
  return {};
}

/// Returns the GPU of each model that was read.
Result<std::vector<std::size_t>> read_models(nvml::Nvml& nvml, std::vector<OpenGpu>& gpus) {
  for (;;) {  // until none of them gets lost meanwhile
    std::vector<std::size_t> models = one_of_each_model(gpus);
    SLIPWAY_CHECK(for_each(nvml, gpus, models,
                           [](nvml::Nvml& own, OpenGpu& each) { return read_model(own, each.device, each.gpu); }));
    if (std::ranges::none_of(models, [&](std::size_t i) { return gpus[i].gpu.lost; })) return models;
  }
}

/// @param find  find(nvml, i, gpu) sets the handle, or marks the GPU as lost
template <class Find>
Result<std::vector<OpenGpu>> open_all(nvml::Nvml& nvml, std::size_t count, Find find) {
  std::vector<OpenGpu> gpus(count);
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  SLIPWAY_CHECK(for_each(nvml, gpus, all, [&](nvml::Nvml& own, OpenGpu& each) -> Status {
    SLIPWAY_CHECK(find(own, static_cast<std::size_t>(&each - gpus.data()), each));
    if (each.gpu.lost) return {};
    SLIPWAY_CHECK(read_identity(own, each.device, each.gpu));
    return read_mode(own, each.device, each.gpu);
  }));
  SLIPWAY_TRY(models, read_models(nvml, gpus));
  std::vector<std::size_t> enabled;
  for (const std::size_t i : all) {
    if (gpus[i].gpu.lost) continue;
    for (const std::size_t model : models)
      if (is_same_model(gpus[model].gpu, gpus[i].gpu)) take_model(gpus[i].gpu, gpus[model].gpu);
    if (gpus[i].gpu.enabled) enabled.push_back(i);
  }
  SLIPWAY_CHECK(for_each(nvml, gpus, enabled, [](nvml::Nvml& own, OpenGpu& each) -> Status {
    const auto handles = read_layout(own, each.device, each.gpu);
    return handles ? Status() : Status(handles.error());
  }));
  return gpus;
}

}  // namespace

Result<std::vector<Gpu>> read_gpus(nvml::Nvml& nvml) {
  const auto count = nvml::device_count(nvml);
  if (!count) return failed(count.code(), "count the GPUs", {});
  SLIPWAY_TRY(open, open_all(nvml, *count, [](nvml::Nvml& own, std::size_t i, OpenGpu& gpu) -> Status {
                const auto device = nvml::device_at(own, static_cast<unsigned>(i));
                gpu.gpu.index = static_cast<unsigned>(i);
                if (is_lost(device.code())) give_up(gpu, device.code());
                if (!device && !gpu.gpu.lost) return failed(device.code(), "open a GPU", gpu.gpu.text());
                gpu.device = device.value_or(nullptr);
                return {};
              }));
  std::vector<Gpu> gpus;
  for (OpenGpu& each : open) gpus.push_back(std::move(each.gpu));
  if (!gpus.empty() && std::ranges::all_of(gpus, &Gpu::lost))
    return failed(gpus.front().hangs ? nvml::kGaveUp : NVML_ERROR_GPU_IS_LOST, "open a GPU", gpus.front().text());
  return gpus;
}

Result<std::vector<OpenGpu>> open_gpus(nvml::Nvml& nvml, const std::vector<Target>& targets) {
  return open_all(nvml, targets.size(), [&](nvml::Nvml& own, std::size_t i, OpenGpu& gpu) -> Status {
    gpu.gpu.address = targets[i].address;
    auto device = find_gpu(own, targets[i]);
    if (!device)
      if (const auto again = nvml::device_by_uuid(own, targets[i].uuid); is_lost(again.code()))
        give_up(gpu, again.code());
    if (gpu.gpu.lost) return {};
    if (!device) return std::move(device).error();
    gpu.device = *device;
    const auto index = nvml::device_index(own, gpu.device);
    if (!index) return failed(index.code(), "read the index of a GPU", targets[i].address);
    gpu.gpu.index = *index;
    return {};
  });
}

Result<nvmlDevice_t> find_gpu(nvidia::nvml::Nvml& nvml, const Target& target) {
  const auto device = nvidia::nvml::device_by_uuid(nvml, target.uuid);
  if (device) return *device;
  if (device.code() != NVML_ERROR_NOT_FOUND) return nvidia::nvml::to_error(device.code(), "open a GPU", target.address);
  return Error{.code = ErrorCode::not_found,
               .what = "the GPU " + target.uuid + " at " + target.address + " no longer exists",
               .where = target.address,
               .next = "plan again: run the same command once more"};
}

}  // namespace slipway::mig
