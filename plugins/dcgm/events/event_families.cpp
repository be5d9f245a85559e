// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "dcgm/events/event_counts.hpp"

namespace slipway::dcgm {
namespace {

std::vector<EventSeries> series_of(const EventCounts::Counts& counts, const char* label, bool is_xid,
                                   std::optional<std::chrono::milliseconds> window) {
  std::vector<EventSeries> series;
  for (const auto& [what, times] : counts)
    series.push_back({{{label, is_xid ? std::to_string(what) : std::string(clock_event_name(what))}}, times});
  if (series.empty()) series.push_back({});
  if (window)
    for (EventSeries& each : series) each.labels.emplace_back("window_size_in_ms", std::to_string(window->count()));
  return series;
}

}  // namespace

std::vector<EventSeries> event_series(const std::string& metric, const Entity& entity, const EventCounts& counts) {
  if (metric == "DCGM_EXP_XID_ERRORS_COUNT")
    return series_of(counts.recent_xids(entity), "xid", true, counts.windows().xids);
  if (metric == "DCGM_EXP_XID_ERRORS_TOTAL") return series_of(counts.all_xids(entity), "xid", true, {});
  if (metric == "DCGM_EXP_CLOCK_EVENTS_COUNT")
    return series_of(counts.recent_clock_events(entity), "clock_event", false, counts.windows().clock_events);
  if (metric == "DCGM_EXP_CLOCK_EVENTS_TOTAL")
    return series_of(counts.all_clock_events(entity), "clock_event", false, {});
  return {};
}

std::vector<EventSeries> peer_series(const Entity& entity, const Sample& sample) {
  static constexpr std::array<const char*, 7> kStatus{
      "OK",     "ChipsetNotSupported", "GPUNotSupported", "TopologyNotSupported", "DisabledByRegKey", "NotSupported",
      "Unknown"};
  std::vector<EventSeries> series;
  for (const PeerStatus& peer : sample.peers)
    if (peer.gpu == entity.gpu.index)
      series.push_back({{{"link_status", kStatus[std::min<std::size_t>(peer.status, kStatus.size() - 1)]},
                         {"peer_gpu", std::to_string(peer.peer)}},
                        peer.status});
  return series;
}

}  // namespace slipway::dcgm
