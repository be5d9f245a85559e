// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/events/event_counts.hpp - dcgm-exporter's own metrics (DCGM_EXP_…): XIDs and reasons of slow clocks,
// counted over the samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

struct EventWindows {
  std::chrono::milliseconds xids{300000};
  std::chrono::milliseconds clock_events{300000};
};

/// Used by one thread.
class EventCounts {
 public:
  /// Counts by XID number, or by bit of the clock reason.
  using Counts = std::map<std::uint64_t, std::uint64_t>;
  /// A GPU's UUID, and the GPU instance.
  using Place = std::pair<std::string, std::optional<unsigned>>;

  explicit EventCounts(EventWindows windows) : windows_(windows) {}

  /// Counts the events of a sample, and drops those that are older than the windows.
  void take(const Sample& sample, const Counters& counters);

  /// XIDs in the window. The XIDs of the whole GPU also count for its instances.
  Counts recent_xids(const Entity& entity) const;
  Counts all_xids(const Entity& entity) const;
  /// Samples in the window in which the reason slowed the clocks.
  Counts recent_clock_events(const Entity& entity) const;
  /// Number of times that a reason appeared.
  Counts all_clock_events(const Entity& entity) const;
  const EventWindows& windows() const { return windows_; }

 private:
  using Time = std::chrono::system_clock::time_point;
  struct CountedEvent {
    Time time;
    Place place;
    std::uint64_t what;  ///< an XID number, or the bit of a clock reason
  };
  void take_clocks(const Entity& entity, std::uint64_t bits, Time now);
  static void forget(std::deque<CountedEvent>& list, Time oldest);

  EventWindows windows_;
  std::deque<CountedEvent> xids_;
  std::deque<CountedEvent> clocks_;
  std::map<Place, Counts> xid_totals_;
  std::map<Place, Counts> clock_totals_;
  std::map<Place, std::uint64_t> clock_bits_;  ///< reasons in the last sample
};

/// Returns "power_cap" for the bit 0x4; empty: the bit has no name.
std::string_view clock_event_name(std::uint64_t bit);

/// A value and its labels besides those of its entity.
struct EventSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  std::uint64_t value = 0;
};

/// Returns the series of DCGM_EXP_XID_ERRORS_COUNT and similar metrics. Without events: one series of value 0 without
/// the event's label.
std::vector<EventSeries> event_series(const std::string& metric, const Entity& entity, const EventCounts& counts);
/// Returns the series of DCGM_EXP_P2P_STATUS: the state of NVLink to each of the other GPUs.
std::vector<EventSeries> peer_series(const Entity& entity, const Sample& sample);

}  // namespace slipway::dcgm
