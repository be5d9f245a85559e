// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/xid_watch.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

}  // namespace

/// The set is made anew when other GPUs answer than before, or when it broke: NVML does not say by which of them.
void XidWatch::update(nvml::Nvml& nvml, const std::map<nvmlDevice_t, std::string>& gpus) {
  take_events();
  if (events_ && gpus == watched_) return;
  release();
  const auto created = nvml::EventSet::create(nvml);
  if (!created) return;
  events_ = *created;
  watched_ = gpus;
  for (const auto& [handle, uuid] : watched_)
    if (const auto added = events_->add(handle, NVML_EVENT_XID_CRITICAL_ERROR); !added && !added.absent())
      log_("warning", uuid + ": its XIDs cannot be watched: " + nvml::error_text(added.code()));
}

void XidWatch::release() {
  events_.reset();
  watched_.clear();
}

void XidWatch::take_events() {
  constexpr int kMost = 256;  // in one go; the rest waits for the next sample
  for (int i = 0; events_ && i < kMost; ++i) {
    const auto event = events_->wait(std::chrono::milliseconds(0));
    if (event)
      take(*event);
    else if (event.code() == NVML_ERROR_TIMEOUT)
      return;
    else
      release();
  }
}

void XidWatch::take(const nvmlEventData_t& event) {
  const auto known = watched_.find(event.device);
  if (known == watched_.end() || (event.eventType & NVML_EVENT_XID_CRITICAL_ERROR) == 0) return;
  last_[{known->second, event.gpuInstanceId}] = event.eventData;
  const bool whole = event.gpuInstanceId == NVML_NO_INSTANCE;
  new_.push_back({known->second, whole ? std::nullopt : std::optional(event.gpuInstanceId), event.eventData});
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
