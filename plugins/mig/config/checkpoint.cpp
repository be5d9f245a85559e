// SPDX-License-Identifier: Apache-2.0
#include "mig/config/checkpoint.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "mig/layout/gpu_space.hpp"

namespace slipway::mig {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Slices of a compute instance by NVML_COMPUTE_INSTANCE_PROFILE_…; of two with the same number, the first is written.
constexpr std::array kComputeSlices{1U, 2U, 3U, 4U, 7U, 8U, 6U, 1U, 7U};

std::size_t compute_selector(unsigned slices) {
  return static_cast<std::size_t>(std::ranges::find(kComputeSlices, slices) - kComputeSlices.begin());
}

OrderedJson instance_json(const Gpu& gpu, const GpuInstance& instance) {
  const InstanceProfile* const profile = gpu.find(instance.profile_id);
  OrderedJson parts;  // null when there are no instances, as Go writes it
  for (const ComputeInstance& part : instance.compute)
    parts.push_back({{"ProfileID", compute_selector(part.slices)}, {"EngProfileID", 0}});
  return {{"ProfileID", profile == nullptr ? 0 : profile->selector},
          {"Placement", {{"Start", instance.start}, {"Size", profile == nullptr ? 0 : profile->size}}},
          {"ComputeInstances", std::move(parts)}};
}

/// A parsed checkpoint, and the GPUs it applies to.
class Checkpoint {
 public:
  Checkpoint(std::string file, const std::vector<Gpu>& gpus) : file_(std::move(file)), gpus_(gpus) {}

  Result<std::vector<Intent>> read(const Json& value) const {
    if (value.at("Version") != "v1") return wrong("its version is " + value.at("Version").dump());
    std::vector<Intent> intents;
    for (const Json& device : value.at("MigState").at("Devices")) {
      SLIPWAY_TRY(intent, read_device(device));
      intents.push_back(std::move(intent));
    }
    return intents;
  }
  Error wrong(const std::string& why) const {
    return Error{.code = ErrorCode::invalid,
                 .what = "this is not a checkpoint of MIG devices: " + why,
                 .where = file_,
                 .next = "name a file that `slipway mig checkpoint` or nvidia-mig-parted has written"};
  }

 private:
  Result<Intent> read_device(const Json& device) const {
    const auto uuid = device.at("UUID").get<std::string>();
    const auto gpu = std::ranges::find(gpus_, uuid, &Gpu::uuid);
    const auto lost = std::ranges::find(gpus_, true, &Gpu::lost);
    if (gpu == gpus_.end() && lost != gpus_.end())
      return Error{
          .code = ErrorCode::not_found,
          .what = "the driver cannot reach the GPU " + uuid + " of the checkpoint, and " + lost->text() + " is lost",
          .where = file_,
          .next = "reset that GPU or reboot, or remove the entry from the file"};
    if (gpu == gpus_.end())
      return Error{.code = ErrorCode::not_found,
                   .what = "the GPU " + uuid + " of the checkpoint is not on this machine",
                   .where = file_,
                   .next = "remove it from the file, or restore on the machine that it was written on"};
    Intent intent{.gpu = *gpu, .wanted = {}, .target = present(*gpu)};
    intent.target.enabled = device.at("MigMode").get<int>() != 0;
    intent.target.instances.clear();
    if (intent.target.enabled && device.at("GpuInstances").is_array()) SLIPWAY_CHECK(read_instances(device, intent));
    intent.wanted = layout_of(*gpu, intent.target.enabled, intent.target.instances);
    return intent;
  }

  Status read_instances(const Json& device, Intent& intent) const {
    GpuSpace room(intent.gpu);
    for (const Json& value : device.at("GpuInstances")) {
      const auto selector = value.at("ProfileID").get<unsigned>();
      const auto start = value.at("Placement").at("Start").get<unsigned>();
      const auto profile = std::ranges::find(intent.gpu.profiles, selector, &InstanceProfile::selector);
      if (profile == intent.gpu.profiles.end())
        return Error{
            .code = ErrorCode::not_found,
            .what = fmt::format("{} has no profile of GPU instances with the number {}", intent.gpu.text(), selector),
            .where = file_,
            .next = "where MIG is disabled and the driver is an old one, enable MIG first: `nvidia-smi -mig 1`"};
      const bool is_place = std::ranges::count(profile->starts, start) != 0 && room.has(*profile, start);
      const auto compute = is_place ? read_compute(*profile, value.at("ComputeInstances")) : std::nullopt;
      if (!compute)
        return Error{.code = ErrorCode::conflict,
                     .what = fmt::format("{} cannot have the {} at {} of the checkpoint", intent.gpu.text(),
                                         profile->profile.text(), start),
                     .where = file_,
                     .next = "name a file that was written for this GPU"};
      room.take({&*profile, start});
      intent.target.instances.push_back({.start = start, .profile_id = profile->id, .compute = *compute});
    }
    std::ranges::sort(intent.target.instances);
    return {};
  }

  static std::optional<std::vector<ComputeInstance>> read_compute(const InstanceProfile& profile, const Json& list) {
    std::vector<unsigned> sizes;
    for (const Json& part : list) {
      const auto selector = part.at("ProfileID").get<std::size_t>();
      if (selector >= kComputeSlices.size()) return std::nullopt;
      sizes.push_back(kComputeSlices[selector]);
      if (!is_compute_size(profile.profile.gpu_slices, sizes.back())) return std::nullopt;
    }
    return fit(profile.profile.gpu_slices, {}, std::move(sizes));
  }

  std::string file_;
  const std::vector<Gpu>& gpus_;
};

}  // namespace

std::string checkpoint_text(const std::vector<Gpu>& gpus) {
  OrderedJson devices;
  for (const Gpu& gpu : gpus) {
    if (!gpu.capable) continue;
    OrderedJson instances;
    for (const GpuInstance& instance : gpu.instances) instances.push_back(instance_json(gpu, instance));
    devices.push_back({{"UUID", gpu.uuid}, {"MigMode", gpu.enabled ? 1 : 0}, {"GpuInstances", std::move(instances)}});
  }
  const OrderedJson all{{"Version", "v1"}, {"MigState", {{"Devices", std::move(devices)}}}};
  return all.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<std::vector<Intent>> intents_of_checkpoint(const std::string& text, const std::string& file,
                                                  const std::vector<Gpu>& gpus) {
  const Checkpoint checkpoint(file, gpus);
  const Json value = parse_foreign(text);
  if (value.is_discarded()) return checkpoint.wrong("it is not JSON");
  try {
    return checkpoint.read(value);
  } catch (const Json::exception& problem) {
    return checkpoint.wrong(problem.what());
  }
}

}  // namespace slipway::mig
