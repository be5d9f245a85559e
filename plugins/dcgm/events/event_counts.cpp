// SPDX-License-Identifier: Apache-2.0
#include "dcgm/events/event_counts.hpp"

#include <array>

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostSeen = 1 << 16;  // reached in a storm of XIDs, or with a short interval

constexpr std::array<std::string_view, 9> kClockEvents{"gpu_idle",    "clocks_setting", "power_cap",
                                                       "hw_slowdown", "sync_boost",     "sw_thermal",
                                                       "hw_thermal",  "hw_power_brake", "display_clocks"};

EventCounts::Place place_of(const Entity& entity) { return {entity.gpu.uuid, entity.instance}; }

/// Calls `take` for each entry about the entity or its whole GPU.
template <class Map, class Take>
void each_place(const Map& map, const Entity& entity, Take take) {
  if (const auto own = map.find(place_of(entity)); own != map.end()) take(own->second);
  if (!entity.instance) return;
  if (const auto whole = map.find({entity.gpu.uuid, std::nullopt}); whole != map.end()) take(whole->second);
}

bool is_about(const EventCounts::Place& place, const Entity& entity) {
  return place.first == entity.gpu.uuid && (!place.second || place.second == entity.instance);
}

}  // namespace

std::string_view clock_event_name(std::uint64_t bit) {
  for (std::size_t i = 0; i < kClockEvents.size(); ++i)
    if (bit == 1ULL << i) return kClockEvents[i];
  return {};
}

void EventCounts::take(const Sample& sample, const Counters& counters) {
  for (const XidEvent& event : sample.xids) {
    if (event.number == 0) continue;
    const Place place{event.uuid, event.instance};
    xids_.push_back({sample.time, place, event.number});
    ++xid_totals_[place][event.number];
  }
  for (std::size_t i = 0; i < counters.series.size(); ++i)
    if (counters.series[i].field->number == kClockReasonsField && sample.is_new(counters.series[i]))
      for (const Entity& entity : sample.entities)
        if (const auto* bits = std::get_if<std::int64_t>(&entity.series[i]))
          take_clocks(entity, static_cast<std::uint64_t>(*bits), sample.time);
  forget(xids_, sample.time - windows_.xids);
  forget(clocks_, sample.time - windows_.clock_events);
}

/// A reason that is already present in the first sample does not count.
void EventCounts::take_clocks(const Entity& entity, std::uint64_t bits, Time now) {
  if (bits != 0) clocks_.push_back({now, place_of(entity), bits});
  const auto [before, first] = clock_bits_.try_emplace(place_of(entity), bits);
  for (std::size_t i = 0; !first && i < kClockEvents.size(); ++i)
    if ((bits & ~before->second & 1ULL << i) != 0) ++clock_totals_[place_of(entity)][1ULL << i];
  before->second = bits;
}

void EventCounts::forget(std::deque<CountedEvent>& list, Time oldest) {
  while (!list.empty() && (list.front().time < oldest || list.size() > kMostSeen)) list.pop_front();
}

EventCounts::Counts EventCounts::recent_xids(const Entity& entity) const {
  Counts counts;
  for (const CountedEvent& seen : xids_)
    if (is_about(seen.place, entity)) ++counts[seen.what];
  return counts;
}

EventCounts::Counts EventCounts::all_xids(const Entity& entity) const {
  Counts counts;
  each_place(xid_totals_, entity, [&counts](const Counts& each) {
    for (const auto& [number, times] : each) counts[number] += times;
  });
  return counts;
}

EventCounts::Counts EventCounts::recent_clock_events(const Entity& entity) const {
  Counts counts;
  for (const CountedEvent& seen : clocks_)
    for (std::size_t i = 0; seen.place == place_of(entity) && i < kClockEvents.size(); ++i)
      if ((seen.what & 1ULL << i) != 0) ++counts[1ULL << i];
  return counts;
}

EventCounts::Counts EventCounts::all_clock_events(const Entity& entity) const {
  const auto found = clock_totals_.find(place_of(entity));
  return found == clock_totals_.end() ? Counts() : found->second;
}

}  // namespace slipway::dcgm
