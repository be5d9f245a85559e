// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/driver_watch.hpp"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

constexpr std::chrono::seconds kLookEvery{2};  // a dozen questions for each GPU, answered from the driver's memory
constexpr std::chrono::seconds kOpenEvery{2};
constexpr std::chrono::milliseconds kGlanceEvery{250};
constexpr unsigned kRecoveryActionField = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, drivers from R570
constexpr unsigned long long kEvents = NVML_EVENT_XID_CRITICAL_ERROR | NVML_EVENT_DOUBLE_BIT_ECC_ERROR;

Moment right_now() { return std::chrono::steady_clock::now(); }

/// A GPU in a word: NVML's code where it does not answer, else which it is and its MIG devices.
std::string glance_at(nvml::Nvml& inside, unsigned index) {
  const auto handle = nvml::device_at(inside, index);
  if (!handle) return std::to_string(handle.code());
  const auto mode = nvml::mig_mode(inside, *handle);
  if (!mode && !mode.absent()) return std::to_string(mode.code());
  std::string word = nvml::device_uuid(inside, *handle).value_or({});
  if (!mode.value_or({}).current) return word;
  const auto devices = nvml::mig_devices(inside, *handle);
  if (!devices) return std::to_string(devices.code());
  for (const nvmlDevice_t device : *devices) word += " " + nvml::device_uuid(inside, device).value_or({});
  return word;
}

}  // namespace

DriverWatch::DriverWatch(const Host& host, nvml::NvmlOptions options, HealthRules rules, Log log)
    : host_(host), options_(std::move(options)), log_(std::move(log)), book_(rules) {}

void DriverWatch::pass(std::chrono::milliseconds limit, const XidFilter& filter) {
  const Moment begin = right_now();
  if (!nvml_ && !open(begin)) {
    std::this_thread::sleep_for(limit);
    return;
  }
  if (std::exchange(owes_the_rest_, false)) return look_at_the_rest();
  wait_for_events(looked_ ? limit : std::chrono::milliseconds(0), filter);
  glance(right_now());
  if (right_now() >= next_look_) look(right_now());
}

bool DriverWatch::open(Moment now) {
  if (now < next_open_) return false;
  next_open_ = now + kOpenEvery;
  auto opened = nvml::Nvml::open(options_);
  if (!opened) {
    gone(opened.error().what, now);
    return false;
  }
  nvml_ = std::move(*opened);
  next_look_ = now;
  next_glance_ = now + kGlanceEvery;
  glanced_.clear();
  return true;
}

void DriverWatch::gone(const std::string& why, Moment now) {
  if (problem_ != why) log_("warning", "the GPUs cannot be asked: " + why);
  problem_ = why;
  book_.driver_gone(why, now);
  const Moment again = next_open_;
  release();
  next_open_ = again;
}

Status DriverWatch::set_exclusive(const std::string& gpu, bool exclusive) {
  constexpr unsigned kDefault = 0;  // nvmlComputeMode_t
  constexpr unsigned kExclusiveProcess = 3;
  if (!nvml_) return Error{.code = ErrorCode::busy, .what = "NVML is closed"};
  const auto handle = nvml::device_by_uuid(*nvml_, gpu);
  if (!handle) return handle.error(gpu);
  const auto set = nvml_->ask<int>([device = *handle, exclusive](const nvml::Library& open, int&) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned>("nvmlDeviceSetComputeMode"), device,
                        exclusive ? kExclusiveProcess : kDefault);
  });
  if (!set) return set.error("set the compute mode of " + gpu);
  return {};
}

void DriverWatch::release() {
  events_.reset();
  watched_.clear();
  measured_.clear();
  if (nvml_) nvml_->release();
  nvml_.reset();
  next_open_ = {};
}

/// Two questions for each GPU between two looks. No event tells of a GPU that is back, or of other MIG devices.
void DriverWatch::glance(Moment now) {
  if (now < next_glance_ || now >= next_look_) return;
  const auto seen = nvml_->ask_together<std::string>([skip = hanging_](nvml::Nvml& inside, std::string& words) {
    const auto count = nvml::device_count(inside);
    for (unsigned index = 0; count && index < *count; ++index)
      words += (skip.contains(index) ? "hangs" : glance_at(inside, index)) + "\n";
    return count.code();
  });
  // A GPU that is gone may take its time to say so: a tenth of all time at most goes to glances.
  next_glance_ = right_now() + std::max<Moment::duration>(kGlanceEvery, 9 * (right_now() - now));
  std::string words = seen ? *seen : std::to_string(seen.code());
  if (!glanced_.empty() && glanced_ != words) next_look_ = now;
  glanced_ = std::move(words);
}

void DriverWatch::look(Moment now) {
  next_look_ = now + kLookEvery;
  if (nvml_->stuck() == 0) hanging_.clear();
  const auto inventory = read_inventory(*nvml_, host_, hanging_);
  if (!inventory) {
    gone(inventory.error().what, now);
    return;
  }
  if (!problem_.empty()) log_("info", "driver " + inventory->driver_version + " answers");
  problem_.clear();
  driver_version_ = inventory->driver_version;
  take(*inventory, now);
  watch_events();
  if (looked_)
    look_at_the_rest();
  else
    owes_the_rest_ = true;
  looked_ = true;
}

/// What kubelet need not wait for.
void DriverWatch::look_at_the_rest() {
  measure();
  std::vector<Gpu> answering;
  std::ranges::copy_if(gpus_, std::back_inserter(answering),
                       [this](const Gpu& gpu) { return !silent_.contains(gpu.uuid); });
  clients_ = read_clients(*nvml_, host_, answering, clients_);
}

void DriverWatch::measure() {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus_) uuids.push_back(gpu.uuid);
  if (uuids == measured_) return;
  nearness_ = read_nearness(*nvml_, gpus_);
  measured_ = std::move(uuids);
}

/// GPUs that answer are as they say; one that is silent keeps what was known of it.
void DriverWatch::take(const Inventory& inventory, Moment now) {
  std::vector<Gpu> gpus = inventory.gpus;
  silent_.clear();
  for (const Gpu& gpu : gpus) book_.checked(gpu.uuid, {.recovery_action = recovery_action(gpu)}, now);
  for (const SilentGpu& silent : inventory.silent) {
    const bool hangs = silent.code == nvml::kGaveUp;
    if (hangs) hanging_.insert(silent.index);
    const auto known = std::ranges::find_if(gpus_, [&](const Gpu& gpu) {
      return gpu.index == silent.index &&
             std::ranges::find(inventory.gpus, gpu.uuid, &Gpu::uuid) == inventory.gpus.end();
    });
    if (known == gpus_.end()) continue;  // never seen: there is no id to offer it under
    book_.checked(known->uuid, {.answers = false, .hangs = hangs, .why = silent.why}, now);
    silent_.insert(known->uuid);
    gpus.push_back(*known);
  }
  std::ranges::sort(gpus, {}, &Gpu::index);
  for (const Gpu& gpu : gpus_)
    if (std::ranges::find(gpus, gpu.uuid, &Gpu::uuid) == gpus.end()) book_.forget(gpu.uuid);
  gpus_ = std::move(gpus);
}

std::string DriverWatch::presence() const {
  if (!looked_ || !problem_.empty()) return {};
  std::string words = driver_version_;
  for (const Gpu& gpu : gpus_) {
    if (silent_.contains(gpu.uuid)) continue;
    words += "\n" + gpu.uuid;
    for (const MigDevice& mig : gpu.mig_devices) words += " " + mig.uuid;
  }
  return words;
}

std::optional<unsigned> DriverWatch::recovery_action(const Gpu& gpu) {
  const auto action = nvml_->ask_together<unsigned>([uuid = gpu.uuid](nvml::Nvml& inside, unsigned& value) {
    const auto handle = nvml::device_by_uuid(inside, uuid);
    if (!handle) return handle.code();
    const auto fields = nvml::field_values(inside, *handle, {kRecoveryActionField});
    if (!fields || fields->empty()) return fields ? NVML_ERROR_NOT_SUPPORTED : fields.code();
    value = static_cast<unsigned>(nvml::number_of(fields->front()));
    return fields->front().nvmlReturn;
  });
  return action ? std::optional(*action) : std::nullopt;
}

/// One set for all; made anew when other GPUs answer than before, or it broke.
void DriverWatch::watch_events() {
  std::map<nvmlDevice_t, std::string> wanted;
  for (const Gpu& gpu : gpus_) {
    if (const Health health = book_.of(gpu.uuid); health.reason == "lost" || health.reason == "hangs") continue;
    if (const auto handle = nvml::device_by_uuid(*nvml_, gpu.uuid)) wanted[*handle] = gpu.uuid;
  }
  if (events_ && wanted == watched_) return;
  const auto created = nvml::EventSet::create(*nvml_);
  events_ = created ? *created : nullptr;
  watched_ = wanted;
  if (!events_) return;
  for (const auto& [handle, uuid] : wanted) {
    const auto added = events_->add(handle, kEvents);
    if (!added && !added.absent())
      book_.checked(uuid, {.answers = false, .why = "its events cannot be watched: " + nvml::error_text(added.code())},
                    right_now());
  }
}

void DriverWatch::wait_for_events(std::chrono::milliseconds limit, const XidFilter& filter) {
  if (!events_) {
    std::this_thread::sleep_for(limit);
    return;
  }
  constexpr int kMost = 64;  // in one go; the rest waits for the next pass
  for (int i = 0; i < kMost; ++i) {
    const auto data = events_->wait(i == 0 ? limit : std::chrono::milliseconds(0));
    if (data) {
      event(*data, filter);
      next_look_ = right_now();
      continue;
    }
    if (data.code() == NVML_ERROR_TIMEOUT) return;
    // One of the GPUs is gone, and NVML does not say which: the look finds out. Until then there are no events.
    events_.reset();
    watched_.clear();
    next_look_ = right_now();
    return;
  }
}

void DriverWatch::event(const nvmlEventData_t& data, const XidFilter& filter) {
  const auto known = watched_.find(data.device);
  if (known == watched_.end()) return;
  const auto number = static_cast<unsigned>(data.eventData);
  if ((data.eventType & NVML_EVENT_XID_CRITICAL_ERROR) != 0) {
    const XidEffect effect = filter.effect(number);
    const auto rule = filter.rules().xid(number);
    // What is about the GPU or the node counts for all of it, whichever instance saw it first.
    const bool of_an_instance = data.gpuInstanceId != NVML_NO_INSTANCE && rule.scope <= nvidia::health::Scope::mig;
    const std::string place = of_an_instance ? instance_key(known->second, data.gpuInstanceId) : known->second;
    log_(effect == XidEffect::none ? "info" : "warning",
         place + ": XID " + std::to_string(number) + (effect == XidEffect::none ? ", which does not count" : ""));
    for (const unsigned over : rule.cancels) book_.cancelled(place, over);
    book_.xid(place, rule, effect, right_now());
  } else if ((data.eventType & NVML_EVENT_DOUBLE_BIT_ECC_ERROR) != 0) {
    book_.ecc(known->second, right_now());
  }
}

}  // namespace slipway::deviceplugin
