// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/xid_watch.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Events after which a sample of the GPU would differ from the previous one.
constexpr unsigned long long kOfItsState =
    NVML_EVENT_MIG_CONFIG_CHANGE | NVML_EVENT_GPU_UNAVAILABLE_ERROR | NVML_EVENT_GPU_RECOVERY_ACTION;

bool has_mig_events(nvml::Nvml& nvml, nvmlDevice_t gpu) {
  const auto types = nvml.ask<unsigned long long>([gpu](const nvml::Library& open, unsigned long long& value) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned long long*>("nvmlDeviceGetSupportedEventTypes"), gpu,
                        &value);
  });
  return types && (*types & NVML_EVENT_MIG_CONFIG_CHANGE) != 0;
}

}  // namespace

/// Recreates the watch when other GPUs answer than before, or when it has ended: NVML does not say which GPU ended it.
void XidWatch::update(nvml::Nvml& nvml, const std::map<nvmlDevice_t, std::string>& gpus) {
  if (events_ && gpus == watched_) return;
  release();
  if (gpus.empty()) return;  // waiting without GPUs returns at once
  const auto created = nvml::EventSet::create(nvml);
  if (!created) return;
  const std::shared_ptr<nvml::EventSet>& set = *created;
  watched_ = gpus;
  for (const auto& [handle, uuid] : watched_) {
    const auto added = set->add(handle, NVML_EVENT_XID_CRITICAL_ERROR | kOfItsState);
    if (!added && !added.absent())
      log_("warning", uuid + ": its XIDs cannot be watched: " + nvml::error_text(added.code()));
    if (added && has_mig_events(nvml, handle)) with_mig_.insert(handle);
  }
  events_ = nvml::EventWatch::of_gpus(nvml, set);
}

void XidWatch::release() {
  events_.reset();
  watched_.clear();
  with_mig_.clear();
}

EventNews XidWatch::take() {
  EventNews news;
  if (!events_) return news;
  const nvml::SeenEvents seen = events_->take();
  for (const nvmlEventData_t& event : seen.of_gpus) take(event, news);
  if (seen.ended == NVML_SUCCESS) return news;
  news.states = true;
  release();
  return news;
}

void XidWatch::take(const nvmlEventData_t& event, EventNews& news) {
  const auto known = watched_.find(event.device);
  if (known == watched_.end()) return;
  if ((event.eventType & kOfItsState) != 0) news.states = true;
  if ((event.eventType & NVML_EVENT_MIG_CONFIG_CHANGE) != 0) mig_changes_.insert(event.device);
  if ((event.eventType & NVML_EVENT_XID_CRITICAL_ERROR) == 0) return;
  last_[{known->second, event.gpuInstanceId}] = event.eventData;
  const bool whole = event.gpuInstanceId == NVML_NO_INSTANCE;
  news.xids.push_back({known->second, whole ? std::nullopt : std::optional(event.gpuInstanceId), event.eventData});
  new_.push_back(news.xids.back());
}

std::uint64_t XidWatch::last(const std::string& uuid, std::optional<unsigned> instance) const {
  if (instance)
    if (const auto own = last_.find({uuid, *instance}); own != last_.end()) return own->second;
  const auto whole = last_.find({uuid, NVML_NO_INSTANCE});
  return whole == last_.end() ? 0 : whole->second;
}

std::map<unsigned, std::uint64_t> XidWatch::all(const std::string& uuid) const {
  std::map<unsigned, std::uint64_t> found;
  for (const auto& [place, number] : last_)
    if (place.first == uuid) found[place.second] = number;
  return found;
}

}  // namespace slipway::dcgm
