// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/driver_watch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

constexpr std::chrono::seconds kQuietLookInterval{10};
/// Interval while a GPU is unhealthy, since its fault may expire, or if NVML has no events.
constexpr std::chrono::seconds kLookOften{2};
constexpr std::chrono::milliseconds kLookAfterEvent{250};  // from one check to the next
constexpr std::chrono::milliseconds kAskSilentGpus{250};
constexpr std::chrono::seconds kClientsEvery{10};
constexpr std::chrono::milliseconds kOpenEvery{800};  // notices within a second that the driver is back
/// Shortest time before an event set that ended at once is recreated.
constexpr std::chrono::seconds kEventsAgain{1};
/// Some of these events exist only with newer drivers: NVML says which of them a GPU supports.
constexpr unsigned long long kEvents = NVML_EVENT_XID_CRITICAL_ERROR | NVML_EVENT_DOUBLE_BIT_ECC_ERROR |
                                       NVML_EVENT_MIG_CONFIG_CHANGE | NVML_EVENT_GPU_UNAVAILABLE_ERROR |
                                       NVML_EVENT_GPU_RECOVERY_ACTION;

Moment right_now() { return std::chrono::steady_clock::now(); }

/// Returns the MIG mode followed by the sorted MIG profiles.
std::vector<std::string> partition_of(const Gpu& gpu) {
  std::vector<std::string> profiles;
  for (const MigDevice& each : gpu.mig_devices) profiles.push_back(each.profile);
  std::ranges::sort(profiles);
  profiles.insert(profiles.begin(), gpu.mig_enabled ? "on" : "off");
  return profiles;
}

/// True when a GPU that did not answer before answers now.
bool answers(nvml::Nvml& inside, unsigned index) {
  const auto handle = nvml::device_at(inside, index);
  if (!handle) return false;
  const auto mode = nvml::mig_mode(inside, *handle);
  return (mode || mode.absent()) && nvml::device_uuid(inside, *handle).ok();
}

}  // namespace

DriverWatch::DriverWatch(const Host& host, nvml::NvmlOptions options, HealthRules rules, Log log)
    : host_(host), options_(std::move(options)), log_(std::move(log)), book_(rules) {}

void DriverWatch::pass(const XidFilter& filter) {
  log_xids(xid_log_.take(right_now()));
  if (nvml_) take_driver_events();
  if (!nvml_ && !open(right_now())) return;
  if (std::exchange(deferred_read_due_, false)) return read_deferred();
  take_events(filter);
  if (right_now() >= next_silent_) ask_silent_gpus(right_now());
  if (right_now() >= next_look_) look(right_now());
}

std::vector<int> DriverWatch::descriptors() const {
  std::vector<int> all;
  for (const auto& watch : {events_, driver_events_})
    if (watch) all.push_back(watch->fd());
  return all;
}

Moment DriverWatch::next() const {
  if (!nvml_) return std::min(next_open_, xid_log_.due());
  return deferred_read_due_ || former_events_ ? right_now() : std::min({next_look_, next_silent_, xid_log_.due()});
}

void DriverWatch::look_soon() { next_look_ = next_open_ = right_now(); }

bool DriverWatch::open(Moment now) {
  if (now < next_open_) return false;
  next_open_ = now + kOpenEvery;
  auto opened = nvml::Nvml::open(options_);
  if (!opened) {
    gone(opened.error().what, now);
    return false;
  }
  nvml_ = std::move(*opened);
  next_look_ = next_clients_ = now;
  next_silent_ = Moment::max();
  mig_may_differ_ = true;
  if (const auto watch = nvml::EventWatch::of_driver(*nvml_)) driver_events_ = *watch;
  return true;
}

/// If the driver is unloaded, the open library only says that it is not initialised; opening it again gives the reason.
void DriverWatch::find_driver(const std::string& why, Moment now) {
  release();
  if (!open(now)) return;
  report_gone(why, now);
  next_look_ = now + kOpenEvery;
}

void DriverWatch::report_gone(const std::string& why, Moment now) {
  if (problem_ != why) log_("warning", "the GPUs cannot be queried: " + why);
  problem_ = why;
  book_.driver_gone(why, now);
}

void DriverWatch::gone(const std::string& why, Moment now) {
  report_gone(why, now);
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
  partitions_.clear();
  events_.reset();
  former_events_.reset();
  driver_events_.reset();
  watched_.clear();
  measured_.clear();
  if (nvml_) nvml_->release();
  nvml_.reset();
  next_open_ = {};
}

/// NVML knows only the GPUs that were bound when it was opened.
void DriverWatch::take_driver_events() {
  if (!driver_events_) return;
  const nvml::SeenEvents seen = driver_events_->take();
  const bool bound = std::ranges::any_of(seen.of_driver, [](const nvmlSystemEventData_v1_t& each) {
    return (each.eventType & NVML_SYSTEM_EVENT_GPU_DRIVER_BIND) != 0;
  });
  if (bound) return release();
  if (!seen.of_driver.empty() || seen.ended != NVML_SUCCESS) look_after_event();
  if (seen.ended != NVML_SUCCESS) driver_events_.reset();
}

void DriverWatch::take_events(const XidFilter& filter) {
  if (former_events_)
    for (const nvmlEventData_t& data : std::exchange(former_events_, nullptr)->take().of_gpus) event(data, filter);
  if (!events_) return;
  const nvml::SeenEvents seen = events_->take();
  for (const nvmlEventData_t& data : seen.of_gpus) event(data, filter);
  const bool has_none = seen.ended == NVML_ERROR_NOT_SUPPORTED || seen.ended == NVML_ERROR_FUNCTION_NOT_FOUND;
  if (!seen.of_gpus.empty() || (seen.ended != NVML_SUCCESS && !has_none)) look_after_event();
  if (seen.ended == NVML_SUCCESS) return;
  // A GPU or the driver is gone, and NVML does not say which: the check finds out, and creates a new event set.
  events_.reset();
  watched_.clear();
}

/// Schedules a check, not at once: programs in pods can make a GPU send thousands of events a second.
void DriverWatch::look_after_event() {
  next_look_ = std::min(next_look_, std::max(right_now(), looked_at_ + kLookAfterEvent));
}

/// Asks each silent GPU two questions, because no event reports that it is back.
void DriverWatch::ask_silent_gpus(Moment now) {
  const bool hung_call_returned = !hanging_.empty() && nvml_->stuck() == 0;
  std::vector<unsigned> asked;
  std::ranges::copy_if(silent_again_, std::back_inserter(asked),
                       [this](unsigned index) { return !hanging_.contains(index); });
  const auto back = nvml_->ask_each<bool>(asked.size(), [asked](nvml::Nvml& inside, std::size_t i, bool& value) {
    value = answers(inside, asked[i]);
    return NVML_SUCCESS;
  });
  // A GPU that is gone may answer slowly: at most a tenth of the time is spent on asking.
  next_silent_ = right_now() + std::max<Moment::duration>(kAskSilentGpus, 9 * (right_now() - now));
  const bool has_recovered_gpu =
      std::ranges::any_of(back, [](const nvml::Answer<bool>& each) { return each.value_or(false); });
  if (hung_call_returned || has_recovered_gpu) next_look_ = right_now();
}

void DriverWatch::look(Moment now) {
  looked_at_ = now;
  if (nvml_->stuck() == 0) hanging_.clear();
  auto inventory =
      read_inventory(*nvml_, host_, hanging_, std::exchange(mig_may_differ_, false) ? std::vector<Gpu>() : gpus_);
  if (!inventory) return find_driver(inventory.error().what, now);
  place_on_bus(host_, bus_, *inventory);
  if (!problem_.empty()) log_("info", "driver " + inventory->driver_version + " answers");
  problem_.clear();
  driver_version_ = inventory->driver_version;
  take(*inventory, now);
  next_silent_ = silent_again_.empty() ? Moment::max() : right_now() + kAskSilentGpus;
  next_look_ = right_now() + kQuietLookInterval;
  watch_events(*inventory, right_now());
  const bool at_rest = book_.all_well() && silent_again_.empty() && (events_ || gpus_.empty());
  if (!at_rest) next_look_ = std::min<Moment>(next_look_, right_now() + kLookOften);
  if (looked_)
    read_deferred();
  else
    deferred_read_due_ = true;
  looked_ = true;
}

/// Makes the readings that kubelet need not wait for.
void DriverWatch::read_deferred() {
  measure();
  if (right_now() < next_clients_) return;
  next_clients_ = right_now() + kClientsEvery;
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

/// GPUs that answer are updated; a silent GPU keeps its last known state.
void DriverWatch::take(const Inventory& inventory, Moment now) {
  std::vector<Gpu> gpus = inventory.gpus;
  silent_.clear();
  silent_again_.clear();
  for (const Gpu& gpu : gpus) {
    const auto action = inventory.recovery_actions.find(gpu.uuid);
    book_.checked(
        gpu.uuid,
        {.recovery_action = action == inventory.recovery_actions.end() ? std::nullopt : std::optional(action->second)},
        now);
  }
  for (const SilentGpu& silent : inventory.silent) {
    const bool hangs = silent.code == nvml::kGaveUp;
    if (hangs) hanging_.insert(silent.index);
    silent_again_.push_back(silent.index);
    const auto known = std::ranges::find_if(gpus_, [&](const Gpu& gpu) {
      return gpu.index == silent.index &&
             std::ranges::find(inventory.gpus, gpu.uuid, &Gpu::uuid) == inventory.gpus.end();
    });
    if (known == gpus_.end()) continue;  // never seen: it has no id to be offered under
    book_.checked(known->uuid, {.answers = false, .hangs = hangs, .why = silent.why}, now);
    silent_.insert(known->uuid);
    gpus.push_back(*known);
  }
  std::ranges::sort(gpus, {}, &Gpu::index);
  for (const Gpu& gpu : gpus_)
    if (std::ranges::find(gpus, gpu.uuid, &Gpu::uuid) == gpus.end()) book_.forget(gpu.uuid);
  gpus_ = std::move(gpus);
  for (const Gpu& gpu : inventory.gpus) partitions_.try_emplace(gpu.uuid, partition_of(gpu));
  absent_ = inventory.absent;
  std::erase_if(absent_, [this](const AbsentGpu& each) {
    return std::ranges::find(gpus_, each.number, &Gpu::number) != gpus_.end();
  });
}

std::vector<Gpu> DriverWatch::repartitioned() const {
  std::vector<Gpu> changed;
  for (const Gpu& gpu : gpus_) {
    const auto before = partitions_.find(gpu.uuid);
    if (!silent_.contains(gpu.uuid) && before != partitions_.end() && before->second != partition_of(gpu))
      changed.push_back(gpu);
  }
  return changed;
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

/// Uses one event set for all GPUs, and recreates it when other GPUs answer than before, or when it broke. The former
/// set is read once more, so that no event is missed.
void DriverWatch::watch_events(const Inventory& inventory, Moment now) {
  std::map<std::string, nvmlDevice_t> wanted;
  for (const auto& [uuid, handle] : inventory.handles) {
    const Health health = book_.of(uuid);
    if (health.reason != "lost" && health.reason != "hangs") wanted[uuid] = handle;
  }
  if (events_ && wanted == watched_) return;
  if (!events_ && now < events_since_ + kEventsAgain) {
    next_look_ = std::min(next_look_, events_since_ + kEventsAgain);
    return;
  }
  events_since_ = now;
  const auto created = wanted.empty() ? nvml::Answer<std::shared_ptr<nvml::EventSet>>(NVML_ERROR_NOT_SUPPORTED)
                                      : nvml::EventSet::create(*nvml_);
  watched_ = wanted;
  former_events_ = std::exchange(events_, nullptr);
  if (!created) return;
  bool has_events = false;
  for (const auto& [uuid, handle] : wanted) {
    const auto added = (*created)->add(handle, kEvents);
    has_events = has_events || added;
    if (!added && !added.absent())
      book_.checked(uuid, {.answers = false, .why = "its events cannot be watched: " + nvml::error_text(added.code())},
                    right_now());
  }
  if (has_events) events_ = nvml::EventWatch::of_gpus(*nvml_, *created);
}

void DriverWatch::log_xids(const std::vector<XidLog::Line>& lines) const {
  for (const XidLog::Line& line : lines) log_(line.level, line.text);
}

void DriverWatch::event(const nvmlEventData_t& data, const XidFilter& filter) {
  const auto known = std::ranges::find_if(watched_, [&data](const auto& each) { return each.second == data.device; });
  if (known == watched_.end()) return;
  const std::string& uuid = known->first;
  const auto number = static_cast<unsigned>(data.eventData);
  if ((data.eventType & NVML_EVENT_XID_CRITICAL_ERROR) != 0) {
    const XidEffect effect = filter.effect(number);
    const auto rule = filter.rules().xid(number);
    // An XID about the GPU or the node counts for all of it, even if an instance reported it.
    const bool of_an_instance = data.gpuInstanceId != NVML_NO_INSTANCE && rule.scope <= nvidia::health::Scope::mig;
    const std::string place = of_an_instance ? instance_key(uuid, data.gpuInstanceId) : uuid;
    log_xids(xid_log_.add(place, number, effect, right_now()));
    for (const unsigned over : rule.cancels) book_.cancelled(place, over);
    book_.xid(place, rule, effect, right_now());
  } else if ((data.eventType & NVML_EVENT_DOUBLE_BIT_ECC_ERROR) != 0) {
    book_.ecc(uuid, right_now());
  } else if ((data.eventType & NVML_EVENT_MIG_CONFIG_CHANGE) != 0) {
    mig_may_differ_ = true;
  }
}

}  // namespace slipway::deviceplugin
