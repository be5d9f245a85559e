// SPDX-License-Identifier: Apache-2.0
#include "mig/device/gpu_change.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "mig/device/read.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {

namespace nvml = nvidia::nvml;

namespace {

/// From Hopper on the mode changes without a reset of the GPU.
constexpr int kFirstWithoutReset = 9;

/// Of a handle that was just read.
const InstanceHandle* find_instance(const std::vector<InstanceHandle>& all, const GpuInstance& instance) {
  const auto found = std::ranges::find_if(all, [&](const InstanceHandle& each) {
    return each.instance.start == instance.start && each.instance.profile_id == instance.profile_id;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

GpuChange::GpuChange(Target target, std::optional<Gpu> known)
    : target_(std::move(target)),
      is_known_(known.has_value()),
      enabled_(target_.enabled),
      instances_(target_.instances) {
  if (known) former_ = std::move(*known);
  former_.address = target_.address;
}

void GpuChange::look(nvml::Nvml& nvml) {
  const auto device = find_gpu(nvml, target_);
  if (!device) return fail(device.error());
  device_ = *device;
  if (is_known_) {
    if (const Status read = refresh(nvml, device_, former_); !read) return fail(read.error());
  } else {
    auto gpu = read_gpu(nvml, device_);
    if (!gpu) return fail(std::move(gpu).error());
    former_ = std::move(*gpu);
  }
  if (is_so(former_, target_)) state_ = State::already;
}

void GpuChange::name_holders(nvml::Nvml& nvml, const Host& host) {
  Target target = target_;
  target.instances = instances_;
  const auto device = find_gpu(nvml, target_);
  if (device) holders_ = nvidia::drain::texts_of(find_holders(nvml, host, *device, former_, target, true));
}

void GpuChange::switch_on(nvml::Nvml& nvml) {
  if (!goes_on() || !enabled_) return;
  if (turning_) {  // from wherever the attempt has left it
    const auto left = now(nvml);
    if (!left) return take(left.error());
    if (left->enabled && left->pending) return;
  } else if (former_.enabled && former_.pending) {
    return;
  }
  take(make_mode(nvml, true));
}

void GpuChange::rearrange(nvml::Nvml& nvml) {
  if (goes_on()) take(make_instances(nvml));
}

void GpuChange::check(nvml::Nvml& nvml) {
  if (!goes_on()) return;
  const auto after = now(nvml);
  if (!after) return fail(after.error());
  if (is_so(*after, target_)) {
    state_ = State::done;
    return;
  }
  fail(Error{.code = ErrorCode::conflict,
             .what = former_.text() + " has another layout than the one that was made: " + to_text(layout_of(*after)),
             .where = former_.text(),
             .next = "see whether another program changes its MIG instances, then run it again"});
}

void GpuChange::turn_back() {
  turning_ = true;
  enabled_ = former_.enabled;
  instances_ = former_.instances;
}

bool GpuChange::take_reset() { return std::exchange(was_reset_, false); }

void GpuChange::fail(Error error) {
  if (turning_) {
    back_ = std::move(error);
    return;
  }
  state_ = State::failed;
  error_ = std::move(error);
}

void GpuChange::take(const Result<End>& end) {
  if (turning_) {
    if (!end)
      back_ = end.error();
    else if (*end != End::done)
      back_ = failed(*end == End::busy ? NVML_ERROR_IN_USE : NVML_ERROR_RESET_REQUIRED, "put the former layout back");
    return;
  }
  if (!end) return fail(end.error());
  if (*end == End::busy) state_ = State::busy;
  if (*end == End::needs_reset) state_ = State::after_reset;
}

Result<GpuChange::End> GpuChange::make_mode(nvml::Nvml& nvml, bool enabled) {
  const std::string doing = enabled ? "enable MIG" : "disable MIG";
  SLIPWAY_TRY(device, find_gpu(nvml, target_));
  device_ = device;
  const auto activation = nvml::set_mig_mode(nvml, device_, enabled);
  if (!activation) return failed(activation.code(), doing);
  const bool was_touched = std::exchange(touched_, true);
  const auto mode = nvml::mig_mode(nvml, device_);
  if (!mode) return failed(mode.code(), "read the MIG mode");
  if (mode->current == enabled) {
    const auto capability = nvml::compute_capability(nvml, device_);
    was_reset_ = was_reset_ || !capability || capability->major < kFirstWithoutReset;
    return End::done;
  }
  if (*activation == NVML_SUCCESS || *activation == NVML_ERROR_RESET_REQUIRED) return End::needs_reset;
  if (former_.pending != enabled) {
    // Else the request would come into force at some later reset, when nobody expects it.
    const auto taken_back = nvml::set_mig_mode(nvml, device_, !enabled);
    if (!taken_back) return failed(taken_back.code(), "take the request back to " + doing);
  }
  touched_ = was_touched;
  if (*activation == NVML_ERROR_IN_USE) return End::busy;
  return failed(*activation, doing);
}

Result<GpuChange::End> GpuChange::destroy(nvml::Nvml& nvml, const Gpu& now,
                                          const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  SLIPWAY_TRY(handles, read_instances(nvml, device_, now.profiles, now.text()));
  for (const Difference::Part& part : parts) {
    const InstanceHandle* const found = find_instance(handles, part.instance);
    if (found == nullptr) continue;
    const std::string what = to_text(now, part.instance);
    touched_ = true;
    for (const InstanceHandle::Part& each : found->compute) {
      if (std::ranges::count(part.compute, each.compute) == 0) continue;
      const auto gone = nvml::destroy(nvml, each.handle);
      if (gone.code() == NVML_ERROR_IN_USE) return End::busy;
      if (!gone) return failed(gone.code(), "destroy a compute instance of " + what);
    }
    if (!part.whole) continue;
    const auto gone = nvml::destroy(nvml, found->handle);
    if (gone.code() == NVML_ERROR_IN_USE) return End::busy;
    if (!gone) return failed(gone.code(), "destroy the GPU instance " + what);
  }
  return End::done;
}

Result<unsigned> GpuChange::compute_profile(nvml::Nvml& nvml, nvmlGpuInstance_t instance, unsigned slices) {
  for (unsigned selector = 0; selector < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; ++selector) {
    const auto profile =
        nvml::compute_instance_profile(nvml, instance, selector, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED);
    if (profile && profile->slices == slices) return profile->id;
    if (!profile && !profile.absent() && profile.code() != NVML_ERROR_INVALID_ARGUMENT)
      return failed(profile.code(), "list the profiles of compute instances");
  }
  return failed(NVML_ERROR_NOT_SUPPORTED, fmt::format("find a profile of compute instances with {} slices", slices));
}

Result<GpuChange::End> GpuChange::create_compute(nvml::Nvml& nvml, nvmlGpuInstance_t instance,
                                                 const std::vector<ComputeInstance>& compute) {
  for (const ComputeInstance& each : compute) {
    SLIPWAY_TRY(profile, compute_profile(nvml, instance, each.slices));
    const auto made = nvml::create_compute_instance(nvml, instance, profile, {each.start, each.slices});
    if (made.code() == NVML_ERROR_IN_USE) return End::busy;
    if (!made) return failed(made.code(), fmt::format("create a compute instance of {} slices", each.slices));
  }
  return End::done;
}

Result<GpuChange::End> GpuChange::create(nvml::Nvml& nvml, const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  touched_ = true;
  std::vector<InstanceHandle> handles;
  if (!std::ranges::all_of(parts, &Difference::Part::whole)) {
    SLIPWAY_TRY(read, read_instances(nvml, device_, former_.profiles, former_.text()));
    handles = std::move(read);
  }
  for (const Difference::Part& part : parts) {
    nvmlGpuInstance_t instance = nullptr;
    if (part.whole) {
      const InstanceProfile* const profile = former_.find(part.instance.profile_id);
      if (profile == nullptr) return failed(NVML_ERROR_NOT_SUPPORTED, "find " + to_text(former_, part.instance));
      const auto made = nvml::create_gpu_instance(nvml, device_, profile->id, {part.instance.start, profile->size});
      // The first instance of a GPU that a program uses as a whole.
      if (made.code() == NVML_ERROR_IN_USE) return End::busy;
      if (!made) return failed(made.code(), "create " + to_text(former_, part.instance));
      instance = *made;
    } else {
      const InstanceHandle* const found = find_instance(handles, part.instance);
      if (found == nullptr) return failed(NVML_ERROR_NOT_FOUND, "find " + to_text(former_, part.instance));
      instance = found->handle;
    }
    SLIPWAY_TRY(end, create_compute(nvml, instance, part.compute));
    if (end != End::done) return end;
  }
  return End::done;
}

/// Where the plan could not place the devices: MIG was enabled first, and now the GPU tells its profiles.
Status GpuChange::place(const Gpu& now) {
  if (turning_ || target_.unplaced.empty()) return {};
  SLIPWAY_TRY(instances, arrange(now, target_.unplaced, target_.where));
  instances_ = std::move(instances);
  return {};
}

Result<GpuChange::End> GpuChange::make_instances(nvml::Nvml& nvml) {
  SLIPWAY_TRY(start, now(nvml));
  SLIPWAY_CHECK(place(start));
  const Difference change =
      difference(start.enabled ? start.instances : Instances(), enabled_ ? instances_ : Instances());
  SLIPWAY_TRY(destroyed, destroy(nvml, start, change.destroyed));
  if (destroyed != End::done) return destroyed;
  if (enabled_) return create(nvml, change.created);
  if (!start.enabled && !start.pending) return End::done;
  SLIPWAY_TRY(end, make_mode(nvml, false));
  if (end != End::needs_reset || turning_) return end;
  // The instances work until the reset: they come back, and the request stays.
  SLIPWAY_TRY(back, create(nvml, difference({}, former_.instances).created));
  return back == End::done ? end : back;
}

/// As it is after what was done so far. A handle from before a reset is void.
Result<Gpu> GpuChange::now(nvml::Nvml& nvml) {
  SLIPWAY_TRY(device, find_gpu(nvml, target_));
  device_ = device;
  Gpu gpu = former_;
  SLIPWAY_CHECK(refresh(nvml, device_, gpu));
  if (former_.profiles.empty()) former_.profiles = gpu.profiles;  // told now that MIG is enabled
  return gpu;
}

Error GpuChange::failed(nvmlReturn_t code, const std::string& doing) const {
  return nvml::to_error(code, doing, former_.text());
}

Outcome GpuChange::waiting() const { return Outcome::waiting(in_use_text(former_), holders_); }

Outcome GpuChange::after_reset() const {
  return Outcome::reboot_required(
      fmt::format("{} takes MIG mode {} at its next reset: end what uses it and run "
                  "`nvidia-smi --gpu-reset -i {}`, or reboot, then apply again",
                  former_.text(), target_.enabled ? "enabled" : "disabled", former_.address));
}

Result<Outcome> GpuChange::result() const {
  const std::string former = to_text(layout_of(former_));
  if (state_ == State::failed) {
    Error error = *error_;
    if (turning_ && touched_ && back_)
      error.details.emplace_back("so", former_.text() + " is again what it was: " + former);
    if (!back_) {
      error.details.emplace_back("lost",
                                 "its former layout (" + former + ") could not be put back: " + back_.error().what);
      error.next = "end what uses the GPU, then run the same command again";
    }
    return error;
  }
  if (!back_) {
    Error error{.code = ErrorCode::busy,
                .what = former_.text() + " is in use, and its former layout (" + former +
                        ") could not be put back: " + back_.error().what,
                .where = former_.text(),
                .next = "end what uses the GPU, then run the same command again"};
    for (const std::string& each : holders_) error.details.emplace_back("held", each);
    return error;
  }
  if (state_ == State::busy) return waiting();
  if (state_ == State::after_reset) return after_reset();
  return state_ == State::already ? Outcome::already_done() : Outcome::done();
}

}  // namespace slipway::mig
