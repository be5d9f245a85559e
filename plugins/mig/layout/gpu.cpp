// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/gpu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

Json to_json(const DeviceId& id) {
  Json json{{"chip", id.chip}};
  if (id.board) json["board"] = *id.board;
  return json;
}

DeviceId id_from_json(const Json& value) {
  DeviceId id{.chip = value.at("chip").get<std::uint32_t>(), .board = {}};
  if (value.contains("board")) id.board = value.at("board").get<std::uint32_t>();
  return id;
}

Json to_json(const InstanceProfile& profile) {
  return {{"name", profile.profile.text()}, {"selector", profile.selector}, {"id", profile.id}, {"max", profile.max},
          {"size", profile.size},           {"starts", profile.starts}};
}

Result<InstanceProfile> profile_from_json(const Json& value) {
  SLIPWAY_TRY(profile, parse_profile(value.at("name").get<std::string>(), "facts"));
  return InstanceProfile{.profile = profile,
                         .selector = value.at("selector").get<unsigned>(),
                         .id = value.at("id").get<unsigned>(),
                         .max = value.at("max").get<unsigned>(),
                         .size = value.at("size").get<unsigned>(),
                         .starts = value.at("starts").get<std::vector<unsigned>>()};
}

GpuInstance instance_from_json(const Json& value) {
  GpuInstance instance{.start = value.at("start").get<unsigned>(), .profile_id = value.at("profile").get<unsigned>()};
  for (const Json& part : value.at("compute"))
    instance.compute.push_back({part.at("start").get<unsigned>(), part.at("slices").get<unsigned>()});
  return instance;
}

Error no_such_form(const Json::exception& problem) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = std::string("a GPU in JSON does not have the expected form: ") + problem.what()};
}

Result<Gpu> read_gpu(const Json& value) {
  Gpu gpu{.index = value.at("index").get<unsigned>(),
          .address = value.at("address").get<std::string>(),
          .uuid = value.at("uuid").get<std::string>(),
          .name = value.at("name").get<std::string>(),
          .id = id_from_json(value.at("id")),
          .lost = value.value("lost", false),
          .hangs = value.value("hangs", false),
          .capable = value.at("capable").get<bool>(),
          .enabled = value.at("enabled").get<bool>(),
          .pending = value.at("pending").get<bool>(),
          .needs_reset = value.value("needs_reset", false),
          .manager = value.value("manager", ""),
          .profiles = {},
          .instances = {}};
  for (const Json& each : value.at("profiles")) {
    SLIPWAY_TRY(profile, profile_from_json(each));
    gpu.profiles.push_back(std::move(profile));
  }
  SLIPWAY_TRY(instances, instances_from_json(value.at("instances")));
  gpu.instances = std::move(instances);
  return gpu;
}

}  // namespace

const InstanceProfile* Gpu::find(unsigned profile_id) const {
  const auto found = std::ranges::find(profiles, profile_id, &InstanceProfile::id);
  return found == profiles.end() ? nullptr : &*found;
}

const InstanceProfile* Gpu::find(const Profile& profile) const {
  const auto found = std::ranges::find(profiles, profile, &InstanceProfile::profile);
  return found == profiles.end() ? nullptr : &*found;
}

std::string Gpu::text() const { return nvidia::gpu_label(index, address); }

Layout layout_of(const Gpu& gpu, bool enabled, const Instances& instances) {
  Layout layout{.enabled = enabled, .devices = {}};
  for (const GpuInstance& instance : instances) {
    const InstanceProfile* const profile = gpu.find(instance.profile_id);
    if (profile == nullptr) continue;
    for (const ComputeInstance& part : instance.compute) {
      Profile device = profile->profile;
      device.compute_slices = part.slices;
      ++layout.devices[device];
    }
  }
  return layout;
}

Layout layout_of(const Gpu& gpu) { return layout_of(gpu, gpu.enabled, gpu.instances); }

std::string to_text(const Gpu& gpu, const GpuInstance& instance) {
  const InstanceProfile* const profile = gpu.find(instance.profile_id);
  const std::string name =
      profile == nullptr ? fmt::format("profile {}", instance.profile_id) : profile->profile.text();
  std::string text = fmt::format("{} at {}", name, instance.start);
  if (instance.compute.empty()) return text + " without a compute instance";
  if (profile != nullptr && instance.compute.front().slices == profile->profile.gpu_slices) return text;
  return text + " with " +
         joined(instance.compute, ", ", [](const ComputeInstance& part) { return std::to_string(part.slices) + "c"; });
}

Json to_json(const Instances& instances) {
  Json list = Json::array();
  for (const GpuInstance& instance : instances) {
    Json parts = Json::array();
    for (const ComputeInstance& part : instance.compute)
      parts.push_back({{"start", part.start}, {"slices", part.slices}});
    list.push_back({{"start", instance.start}, {"profile", instance.profile_id}, {"compute", std::move(parts)}});
  }
  return list;
}

Result<Instances> instances_from_json(const Json& value) {
  try {
    Instances instances;
    for (const Json& each : value) instances.push_back(instance_from_json(each));
    std::ranges::sort(instances);
    return instances;
  } catch (const Json::exception& problem) {
    return no_such_form(problem);
  }
}

Json to_json(const Gpu& gpu) {
  Json profiles = Json::array();
  for (const InstanceProfile& profile : gpu.profiles) profiles.push_back(to_json(profile));
  Json json{{"index", gpu.index},
            {"address", gpu.address},
            {"uuid", gpu.uuid},
            {"name", gpu.name},
            {"id", to_json(gpu.id)},
            {"capable", gpu.capable},
            {"enabled", gpu.enabled},
            {"pending", gpu.pending},
            {"needs_reset", gpu.needs_reset},
            {"profiles", std::move(profiles)},
            {"layout", to_text(layout_of(gpu))},
            {"instances", to_json(gpu.instances)}};
  if (!gpu.manager.empty()) json["manager"] = gpu.manager;
  if (gpu.lost) json["lost"] = true;
  if (gpu.hangs) json["hangs"] = true;
  return json;
}

Result<Gpu> gpu_from_json(const Json& value) {
  try {
    return read_gpu(value);
  } catch (const Json::exception& problem) {
    return no_such_form(problem);
  }
}

}  // namespace slipway::mig
