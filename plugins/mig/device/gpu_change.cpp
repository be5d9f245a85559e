// SPDX-License-Identifier: Apache-2.0
#include "mig/device/gpu_change.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/device/reset.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {

namespace nvml = nvidia::nvml;

namespace {

/// NVML_COMPUTE_INSTANCE_PROFILE_… of that many slices; other profiles may have the same number.
constexpr std::array<std::pair<unsigned, unsigned>, 7> kComputeSelectors{{{1, NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE},
                                                                          {2, NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE},
                                                                          {3, NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE},
                                                                          {4, NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE},
                                                                          {6, NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE},
                                                                          {7, NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE},
                                                                          {8, NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE}}};

/// Returns all selectors, the one for the number of slices first.
std::vector<unsigned> compute_selectors(unsigned slices) {
  std::vector<unsigned> all;
  for (const auto& [size, selector] : kComputeSelectors)
    if (size == slices) all.push_back(selector);
  for (unsigned selector = 0; selector < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; ++selector)
    if (std::ranges::count(all, selector) == 0) all.push_back(selector);
  return all;
}

/// Finds an instance among the handles that were just read.
const InstanceHandle* find_instance(const std::vector<InstanceHandle>& all, const GpuInstance& instance) {
  const auto found = std::ranges::find_if(all, [&](const InstanceHandle& each) {
    return each.instance.start == instance.start && each.instance.profile_id == instance.profile_id;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

GpuChange::GpuChange(Target target, Gpu known, nvmlDevice_t device)
    : target_(std::move(target)),
      former_(std::move(known)),
      device_(device),
      enabled_(target_.enabled),
      instances_(target_.instances) {
  former_.address = target_.address;
}

void GpuChange::look(nvml::Nvml& nvml) {
  const auto found = device(nvml);
  if (!found) return fail(found.error());
  auto handles = refresh(nvml, *found, former_);
  if (!handles) return fail(handles.error());
  handles_ = std::move(*handles);
  if (matches_target(former_, target_)) state_ = State::already;
}

Changing GpuChange::changing(nvml::Nvml& nvml) {
  target_.instances = instances_;
  return {.device = device(nvml).value_or(nullptr), .gpu = &former_, .target = &target_, .with_daemons = true};
}

void GpuChange::forget_handles() {
  device_ = nullptr;
  handles_.clear();
}

Result<nvmlDevice_t> GpuChange::device(nvml::Nvml& nvml) {
  if (device_ != nullptr) return device_;
  SLIPWAY_TRY(found, find_gpu(nvml, target_));
  return device_ = found;
}

void GpuChange::switch_on(nvml::Nvml& nvml) {
  if (!goes_on() || !enabled_) return;
  if (turning_) {  // starts from the state that the failed attempt left
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
  if (matches_target(*after, target_)) {
    state_ = State::done;
    return;
  }
  fail(Error{
      .code = ErrorCode::conflict,
      .what = former_.text() + " has another layout than the one that slipway made: " + to_text(layout_of(*after)),
      .where = former_.text(),
      .next = "check whether another program changes the MIG instances of this GPU, then run the same command again"});
}

void GpuChange::turn_back() {
  turning_ = true;
  requested_.reset();
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
  requested_.reset();
  SLIPWAY_TRY(gpu, device(nvml));
  const auto activation = nvml::set_mig_mode(nvml, gpu, enabled);
  if (!activation) return failed(activation.code(), doing);
  const bool was_touched = std::exchange(touched_, true);
  const auto mode = nvml::mig_mode(nvml, gpu);
  if (!mode) return failed(mode.code(), "read the MIG mode");
  if (mode->current == enabled) {
    was_reset_ = was_reset_ || former_.needs_reset;
    switched_on_ = switched_on_ || (enabled && !former_.enabled);
    return End::done;
  }
  if (*activation == NVML_SUCCESS || *activation == NVML_ERROR_RESET_REQUIRED) {
    requested_ = enabled;
    return End::needs_reset;
  }
  if (former_.pending != enabled) {
    // Otherwise the request would take effect at some later reset, unexpectedly.
    const auto taken_back = nvml::set_mig_mode(nvml, gpu, !enabled);
    if (!taken_back) return failed(taken_back.code(), "take the request back to " + doing);
  }
  touched_ = was_touched;
  if (*activation == NVML_ERROR_IN_USE) return End::busy;
  return failed(*activation, doing);
}

Result<GpuChange::End> GpuChange::destroy(nvml::Nvml& nvml, const Gpu& now,
                                          const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  auto handles = std::exchange(handles_, {});
  if (turning_ || handles.empty()) {
    SLIPWAY_TRY(gpu, device(nvml));
    SLIPWAY_TRY(read, read_instances(nvml, gpu, now.profiles, now.text()));
    handles = std::move(read);
  }
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

Result<unsigned> GpuChange::compute_profile(nvml::Nvml& nvml, nvmlGpuInstance_t instance, unsigned gpu_profile,
                                            unsigned slices) {
  const auto known = compute_profiles_.find({gpu_profile, slices});
  if (known != compute_profiles_.end()) return known->second;
  for (const unsigned selector : compute_selectors(slices)) {
    const auto profile =
        nvml::compute_instance_profile(nvml, instance, selector, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED);
    if (profile && profile->slices == slices) return compute_profiles_[{gpu_profile, slices}] = profile->id;
    if (!profile && !profile.absent() && profile.code() != NVML_ERROR_INVALID_ARGUMENT)
      return failed(profile.code(), "list the profiles of compute instances");
  }
  return failed(NVML_ERROR_NOT_SUPPORTED, fmt::format("find a profile of compute instances with {} slices", slices));
}

Result<GpuChange::End> GpuChange::create_compute(nvml::Nvml& nvml, nvmlGpuInstance_t instance,
                                                 const Difference::Part& part) {
  for (const ComputeInstance& each : part.compute) {
    SLIPWAY_TRY(profile, compute_profile(nvml, instance, part.instance.profile_id, each.slices));
    const auto made = nvml::create_compute_instance(nvml, instance, profile, {each.start, each.slices});
    if (made.code() == NVML_ERROR_IN_USE) return End::busy;
    if (!made) return failed(made.code(), fmt::format("create a compute instance of {} slices", each.slices));
  }
  return End::done;
}

Result<GpuChange::End> GpuChange::create(nvml::Nvml& nvml, const std::vector<Difference::Part>& parts) {
  if (parts.empty()) return End::done;
  touched_ = true;
  SLIPWAY_TRY(gpu, device(nvml));
  std::vector<InstanceHandle> handles;
  if (!std::ranges::all_of(parts, &Difference::Part::whole)) {
    SLIPWAY_TRY(read, read_instances(nvml, gpu, former_.profiles, former_.text()));
    handles = std::move(read);
  }
  for (const Difference::Part& part : parts) {
    nvmlGpuInstance_t instance = nullptr;
    if (part.whole) {
      const InstanceProfile* const profile = former_.find(part.instance.profile_id);
      if (profile == nullptr) return failed(NVML_ERROR_NOT_SUPPORTED, "find " + to_text(former_, part.instance));
      const auto made = nvml::create_gpu_instance(nvml, gpu, profile->id, {part.instance.start, profile->size});
      // Fails for the first instance of a GPU that a program uses as a whole.
      if (made.code() == NVML_ERROR_IN_USE) return End::busy;
      if (!made) return failed(made.code(), "create " + to_text(former_, part.instance));
      instance = *made;
    } else {
      const InstanceHandle* const found = find_instance(handles, part.instance);
      if (found == nullptr) return failed(NVML_ERROR_NOT_FOUND, "find " + to_text(former_, part.instance));
      instance = found->handle;
    }
    SLIPWAY_TRY(end, create_compute(nvml, instance, part));
    if (end != End::done) return end;
  }
  return End::done;
}

/// Used if the plan could not place the devices: MIG is enabled first, and now the GPU reports its profiles.
Status GpuChange::place(const Gpu& now) {
  if (turning_ || target_.unplaced.empty()) return {};
  SLIPWAY_TRY(instances, arrange(now, target_.unplaced, target_.where));
  instances_ = std::move(instances);
  return {};
}

Result<GpuChange::End> GpuChange::make_instances(nvml::Nvml& nvml) {
  Gpu start = former_;  // no other program has changed it since it was read
  start.enabled = start.enabled || switched_on_;
  if (turning_ || start.profiles.empty()) {
    SLIPWAY_TRY(left, now(nvml));
    start = std::move(left);
  }
  SLIPWAY_CHECK(place(start));
  const Difference change =
      difference(start.enabled ? start.instances : Instances(), enabled_ ? instances_ : Instances());
  SLIPWAY_TRY(destroyed, destroy(nvml, start, change.destroyed));
  if (destroyed != End::done) return destroyed;
  if (enabled_) return create(nvml, change.created);
  if (!start.enabled && !start.pending) return End::done;
  return make_mode(nvml, false);
}

/// Without a reset the instances keep working: those that were destroyed for it are created again, and the request
/// stays.
void GpuChange::settle(nvml::Nvml& nvml) {
  if (state_ != State::after_reset || enabled_ || !former_.enabled) return;
  const auto back = create(nvml, difference({}, former_.instances).created);
  if (!back || *back != End::done) take(back);
}

void GpuChange::look_after_reset(nvml::Nvml& nvml, const Status& reset, bool in_use) {
  const bool requested = requested_.value_or(enabled_);
  const auto found = device(nvml);
  if (!found) return fail(found.error());
  const auto mode = nvml::mig_mode(nvml, *found);
  if (!mode) return fail(failed(mode.code(), "read the MIG mode"));
  if (mode->current == requested) {
    requested_.reset();
    switched_on_ = switched_on_ || (requested && !former_.enabled);
    if (turning_)
      back_ = {};
    else
      state_ = State::open;
    return;
  }
  refusal_ = reset ? "the MIG mode is still the former one after a reset" : reset.error().what;
  if (turning_ || !in_use) return;  // the mode stays requested
  const auto taken_back = nvml::set_mig_mode(nvml, *found, former_.pending);
  if (!taken_back) return fail(failed(taken_back.code(), "take the request for the mode back"));
  requested_.reset();
  state_ = State::busy;
}

/// Reads the GPU as it is after the steps so far.
Result<Gpu> GpuChange::now(nvml::Nvml& nvml) {
  SLIPWAY_TRY(found, device(nvml));
  Gpu gpu = former_;
  if (const auto handles = refresh(nvml, found, gpu); !handles) return handles.error();
  if (former_.profiles.empty()) former_.profiles = gpu.profiles;  // available now that MIG is enabled
  return gpu;
}

Error GpuChange::failed(nvmlReturn_t code, const std::string& doing) const {
  return nvml::to_error(code, doing, former_.text());
}

Outcome GpuChange::waiting() const { return Outcome::waiting(in_use_text(former_), holders_); }

Outcome GpuChange::after_reset() const {
  const std::string text = fmt::format("{} takes MIG mode {} at its next reset: {}, then apply again", former_.text(),
                                       target_.enabled ? "enabled" : "disabled", how_to_reset({former_}));
  return Outcome::reboot_required(refusal_.empty() ? text : text + " (" + refusal_ + ")");
}

Result<Outcome> GpuChange::result() const {
  const std::string former = to_text(layout_of(former_));
  if (state_ == State::failed) {
    Error error = *error_;
    if (turning_ && touched_ && back_)
      error.details.emplace_back("so", former_.text() + " has its former layout again: " + former);
    if (!back_) {
      error.details.emplace_back("lost",
                                 "its former layout (" + former + ") could not be restored: " + back_.error().what);
      error.next = "stop the processes that use the GPU, then run the same command again";
    }
    return error;
  }
  if (!back_) {
    Error error{.code = ErrorCode::busy,
                .what = former_.text() + " is in use, and its former layout (" + former +
                        ") could not be restored: " + back_.error().what,
                .where = former_.text(),
                .next = "stop the processes that use the GPU, then run the same command again"};
    for (const std::string& each : holders_) error.details.emplace_back("held", each);
    return error;
  }
  if (state_ == State::busy) return waiting();
  if (state_ == State::after_reset) return after_reset();
  return state_ == State::already ? Outcome::already_done() : Outcome::done();
}

}  // namespace slipway::mig
