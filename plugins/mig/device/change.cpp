// SPDX-License-Identifier: Apache-2.0
#include "mig/device/change.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "mig/device/read.hpp"
#include "mig/layout/arrange.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {
namespace {

namespace nvml = nvidia::nvml;

/// How an attempt ended that met no error.
enum class End { done, busy, needs_reset };

/// From Hopper on the mode changes without a reset of the GPU.
constexpr int kFirstWithoutReset = 9;

class GpuChange {
 public:
  GpuChange(nvml::Nvml& nvml, const Host& host, nvmlDevice_t device, Gpu gpu, const Target& target)
      : nvml_(nvml), host_(host), device_(device), target_(target), former_(std::move(gpu)) {}

  Result<Outcome> run();

 private:
  Result<End> make(const Gpu& now, bool enabled, const Instances& instances);
  Result<End> set_mode(bool enabled);
  Result<End> destroy(const Gpu& now, const std::vector<Difference::Part>& parts);
  Result<End> create(const std::vector<Difference::Part>& parts);
  Result<End> create_compute(nvmlGpuInstance_t instance, const std::vector<ComputeInstance>& compute);
  Result<unsigned> compute_profile(nvmlGpuInstance_t instance, unsigned slices);
  Result<Gpu> now();
  Result<Instances> placed();
  std::vector<std::string> in_the_way(const Instances& wanted);
  Outcome busy(std::vector<std::string> by) const;
  Outcome after_reset() const;
  Result<Outcome> done();
  Result<Outcome> given_up(const Instances& wanted);
  Status put_back();
  Error gave_up(Error error);
  Error failed(nvmlReturn_t code, const std::string& doing) const {
    return nvml::to_error(code, doing, former_.text());
  }

  nvml::Nvml& nvml_;
  const Host& host_;
  nvmlDevice_t device_;
  const Target& target_;
  Gpu former_;  ///< what it was, and is to be again after a failure
};

/// Of a handle that was just read.
const InstanceHandle* find_instance(const std::vector<InstanceHandle>& all, const GpuInstance& instance) {
  const auto found = std::ranges::find_if(all, [&](const InstanceHandle& each) {
    return each.instance.start == instance.start && each.instance.profile_id == instance.profile_id;
  });
  return found == all.end() ? nullptr : &*found;
}

Result<End> GpuChange::set_mode(bool enabled) {
  const std::string doing = enabled ? "enable MIG" : "disable MIG";
  const auto activation = nvml::set_mig_mode(nvml_, device_, enabled);
  if (!activation) return failed(activation.code(), doing);
  const auto mode = nvml::mig_mode(nvml_, device_);
  if (!mode) return failed(mode.code(), "read the MIG mode");
  if (mode->current == enabled) {
    const auto capability = nvml::compute_capability(nvml_, device_);
    if (capability && capability->major >= kFirstWithoutReset) return End::done;
    SLIPWAY_CHECK(nvml_.reopen());  // the driver has reset the GPU: what was known of it is void
    SLIPWAY_TRY(device, find_gpu(nvml_, target_));
    device_ = device;
    return End::done;
  }
  if (*activation == NVML_SUCCESS || *activation == NVML_ERROR_RESET_REQUIRED) return End::needs_reset;
  if (former_.pending != enabled) {
    // Else the request would come into force at some later reset, when nobody expects it.
    const auto taken_back = nvml::set_mig_mode(nvml_, device_, !enabled);
    if (!taken_back) return failed(taken_back.code(), "take the request back to " + doing);
  }
  if (*activation == NVML_ERROR_IN_USE) return End::busy;
  return failed(*activation, doing);
}

Result<End> GpuChange::destroy(const Gpu& now, const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  SLIPWAY_TRY(handles, read_instances(nvml_, device_, now.profiles, now.text()));
  for (const Difference::Part& part : parts) {
    const InstanceHandle* const found = find_instance(handles, part.instance);
    if (found == nullptr) continue;
    const std::string what = to_text(now, part.instance);
    for (const InstanceHandle::Part& each : found->compute) {
      if (std::ranges::count(part.compute, each.compute) == 0) continue;
      const auto gone = nvml::destroy(nvml_, each.handle);
      if (gone.code() == NVML_ERROR_IN_USE) return End::busy;
      if (!gone) return failed(gone.code(), "destroy a compute instance of " + what);
    }
    if (!part.whole) continue;
    const auto gone = nvml::destroy(nvml_, found->handle);
    if (gone.code() == NVML_ERROR_IN_USE) return End::busy;
    if (!gone) return failed(gone.code(), "destroy the GPU instance " + what);
  }
  return End::done;
}

Result<unsigned> GpuChange::compute_profile(nvmlGpuInstance_t instance, unsigned slices) {
  for (unsigned selector = 0; selector < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; ++selector) {
    const auto profile =
        nvml::compute_instance_profile(nvml_, instance, selector, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED);
    if (profile && profile->slices == slices) return profile->id;
    if (!profile && !profile.absent() && profile.code() != NVML_ERROR_INVALID_ARGUMENT)
      return failed(profile.code(), "list the profiles of compute instances");
  }
  return failed(NVML_ERROR_NOT_SUPPORTED, fmt::format("find a profile of compute instances with {} slices", slices));
}

Result<End> GpuChange::create_compute(nvmlGpuInstance_t instance, const std::vector<ComputeInstance>& compute) {
  for (const ComputeInstance& each : compute) {
    SLIPWAY_TRY(profile, compute_profile(instance, each.slices));
    const auto made = nvml::create_compute_instance(nvml_, instance, profile, {each.start, each.slices});
    if (made.code() == NVML_ERROR_IN_USE) return End::busy;
    if (!made) return failed(made.code(), fmt::format("create a compute instance of {} slices", each.slices));
  }
  return End::done;
}

Result<End> GpuChange::create(const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  SLIPWAY_TRY(handles, read_instances(nvml_, device_, former_.profiles, former_.text()));
  for (const Difference::Part& part : parts) {
    nvmlGpuInstance_t instance = nullptr;
    if (part.whole) {
      const InstanceProfile* const profile = former_.find(part.instance.profile_id);
      if (profile == nullptr) return failed(NVML_ERROR_NOT_SUPPORTED, "find " + to_text(former_, part.instance));
      const auto made = nvml::create_gpu_instance(nvml_, device_, profile->id, {part.instance.start, profile->size});
      // The first instance of a GPU that a program uses as a whole.
      if (made.code() == NVML_ERROR_IN_USE) return End::busy;
      if (!made) return failed(made.code(), "create " + to_text(former_, part.instance));
      instance = *made;
    } else {
      const InstanceHandle* const found = find_instance(handles, part.instance);
      if (found == nullptr) return failed(NVML_ERROR_NOT_FOUND, "find " + to_text(former_, part.instance));
      instance = found->handle;
    }
    SLIPWAY_TRY(end, create_compute(instance, part.compute));
    if (end != End::done) return end;
  }
  return End::done;
}

Result<End> GpuChange::make(const Gpu& now, bool enabled, const Instances& instances) {
  if (enabled && (!now.enabled || !now.pending)) {
    SLIPWAY_TRY(end, set_mode(true));
    if (end != End::done) return end;
  }
  const Difference change = difference(now.enabled ? now.instances : Instances(), enabled ? instances : Instances());
  SLIPWAY_TRY(destroyed, destroy(now, change.destroyed));
  if (destroyed != End::done) return destroyed;
  if (!enabled && (now.enabled || now.pending)) return set_mode(false);
  return create(change.created);
}

/// Back to what the GPU was, from wherever an attempt has left it.
Status GpuChange::put_back() {
  SLIPWAY_TRY(device, find_gpu(nvml_, target_));
  device_ = device;
  SLIPWAY_TRY(left, now());
  SLIPWAY_TRY(end, make(left, former_.enabled, former_.instances));
  if (end == End::done) return {};
  return failed(end == End::busy ? NVML_ERROR_IN_USE : NVML_ERROR_RESET_REQUIRED, "put the former layout back");
}

Error GpuChange::gave_up(Error error) {
  const std::string former = to_text(layout_of(former_));
  const Status back = put_back();
  if (back) {
    error.details.emplace_back("so", former_.text() + " is again what it was: " + former);
  } else {
    error.details.emplace_back("lost",
                               "its former layout (" + former + ") could not be put back: " + back.error().what);
    error.next = "end what uses the GPU, then run the same command again";
  }
  return error;
}

std::vector<std::string> GpuChange::in_the_way(const Instances& wanted) {
  Target target = target_;
  target.instances = wanted;
  return nvidia::drain::texts_of(find_holders(nvml_, host_, device_, former_, target, true));
}

Outcome GpuChange::busy(std::vector<std::string> by) const {
  return Outcome::waiting(in_use_text(former_), std::move(by));
}

Outcome GpuChange::after_reset() const {
  return Outcome::reboot_required(
      fmt::format("{} takes MIG mode {} at its next reset: end what uses it and run "
                  "`nvidia-smi --gpu-reset -i {}`, or reboot, then apply again",
                  former_.text(), target_.enabled ? "enabled" : "disabled", former_.address));
}

/// As it is after what was done so far.
Result<Gpu> GpuChange::now() {
  Gpu gpu = former_;
  SLIPWAY_CHECK(refresh(nvml_, device_, gpu));
  if (former_.profiles.empty()) former_.profiles = gpu.profiles;  // told now that MIG is enabled
  return gpu;
}

/// Where the plan could not place the devices: MIG is enabled first, then the GPU tells its profiles.
Result<Instances> GpuChange::placed() {
  if (target_.unplaced.empty()) return target_.instances;
  SLIPWAY_TRY(enabled, now());
  return arrange(enabled, target_.unplaced, target_.where);
}

Result<Outcome> GpuChange::done() {
  const auto after = now();
  if (!after) return gave_up(after.error());
  if (is_so(*after, target_)) return Outcome::done();
  return gave_up(
      Error{.code = ErrorCode::conflict,
            .what = former_.text() + " has another layout than the one that was made: " + to_text(layout_of(*after)),
            .where = former_.text(),
            .next = "see whether another program changes its MIG instances, then run it again"});
}

/// Something turned out to be in use.
Result<Outcome> GpuChange::given_up(const Instances& wanted) {
  auto by = in_the_way(wanted);
  const Status back = put_back();
  if (back) return busy(std::move(by));
  Error error{.code = ErrorCode::busy,
              .what = former_.text() + " is in use, and its former layout (" + to_text(layout_of(former_)) +
                      ") could not be put back: " + back.error().what,
              .where = former_.text(),
              .next = "end what uses the GPU, then run the same command again"};
  for (std::string& each : by) error.details.emplace_back("held", std::move(each));
  return error;
}

Result<Outcome> GpuChange::run() {
  if (is_so(former_, target_)) return Outcome::already_done();
  if (!target_.unplaced.empty() && !former_.enabled) {
    const auto end = set_mode(true);
    if (!end) return gave_up(end.error());
    if (*end == End::busy) return busy({});
    if (*end == End::needs_reset) return after_reset();
  }
  const auto wanted = placed();
  if (!wanted) return gave_up(wanted.error());
  const auto start = now();
  if (!start) return gave_up(start.error());
  const auto end = make(*start, target_.enabled, *wanted);
  if (!end) return gave_up(end.error());
  if (*end == End::done) return done();
  if (*end == End::busy) return given_up(*wanted);
  if (target_.enabled) return after_reset();
  // The instances work until the reset: they come back, and the request stays.
  const auto back = create(difference({}, former_.instances).created);
  if (!back) return gave_up(back.error());
  return after_reset();
}

}  // namespace

Json to_json(const Target& target) {
  Json json{{"gpu", target.address},
            {"uuid", target.uuid},
            {"enabled", target.enabled},
            {"instances", to_json(target.instances)}};
  if (!target.unplaced.empty()) json["devices"] = to_json(target.unplaced);
  if (!target.where.empty()) json["where"] = target.where;
  return json;
}

Result<Target> target_from_json(const Json& value) {
  try {
    Target target{.address = value.at("gpu").get<std::string>(),
                  .uuid = value.at("uuid").get<std::string>(),
                  .enabled = value.at("enabled").get<bool>(),
                  .instances = {},
                  .unplaced = {},
                  .where = value.value("where", "")};
    SLIPWAY_TRY(instances, instances_from_json(value.at("instances")));
    target.instances = std::move(instances);
    const Json devices = value.value("devices", Json::object());
    for (const auto& [name, count] : devices.items()) {
      SLIPWAY_TRY(profile, parse_profile(name, "action"));
      target.unplaced[profile] = count.get<unsigned>();
    }
    return target;
  } catch (const Json::exception& problem) {
    return Error{.code = ErrorCode::plugin_defect,
                 .what = std::string("the action's data have not the expected form: ") + problem.what()};
  }
}

Target present(const Gpu& gpu) {
  return {.address = gpu.address,
          .uuid = gpu.uuid,
          .enabled = gpu.enabled,
          .instances = gpu.instances,
          .unplaced = {},
          .where = {}};
}

bool is_so(const Gpu& gpu, const Target& target) {
  if (gpu.enabled != target.enabled || gpu.pending != target.enabled) return false;
  if (!target.enabled) return true;
  // A GPU instance that is no device takes room that nobody gave it.
  const auto is_empty = [](const GpuInstance& each) { return each.compute.empty(); };
  if (std::ranges::count_if(gpu.instances, is_empty) != std::ranges::count_if(target.instances, is_empty)) return false;
  const Counts wanted = target.unplaced.empty() ? layout_of(gpu, true, target.instances).devices : target.unplaced;
  return layout_of(gpu).devices == wanted;
}

Result<nvmlDevice_t> find_gpu(nvml::Nvml& nvml, const Target& target) {
  const auto device = nvml::device_by_uuid(nvml, target.uuid);
  if (device) return *device;
  if (device.code() != NVML_ERROR_NOT_FOUND) return nvml::to_error(device.code(), "open a GPU", target.address);
  return Error{.code = ErrorCode::not_found,
               .what = "the GPU " + target.uuid + " at " + target.address + " is not there any more",
               .where = target.address,
               .next = "plan again: run the same command once more"};
}

Result<Outcome> change_gpu(nvml::Nvml& nvml, const Host& host, const Target& target) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  SLIPWAY_TRY(gpu, read_gpu(nvml, device));
  return GpuChange(nvml, host, device, std::move(gpu), target).run();
}

Result<Outcome> change_gpu(nvml::Nvml& nvml, const Host& host, const Target& target, Gpu gpu) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  SLIPWAY_CHECK(refresh(nvml, device, gpu));
  return GpuChange(nvml, host, device, std::move(gpu), target).run();
}

}  // namespace slipway::mig
