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
  /// By the XID's number, or by the bit of the reason.
  using Counts = std::map<std::uint64_t, std::uint64_t>;
  /// A GPU's UUID, and the GPU instance.
  using Place = std::pair<std::string, std::optional<unsigned>>;

  explicit EventCounts(EventWindows windows) : windows_(windows) {}

  /// Counts what the sample brings, and forgets what is older than the windows.
  void take(const Sample& sample, const Counters& counters);

  /// XIDs of the window; those of the whole GPU are those of its instances as well.
  Counts recent_xids(const Entity& entity) const;
  Counts all_xids(const Entity& entity) const;
  /// Samples of the window in which clocks were slow for the reason.
  Counts recent_clock_events(const Entity& entity) const;
  /// How often a reason came up.
  Counts all_clock_events(const Entity& entity) const;
  const EventWindows& windows() const { return windows_; }

 private:
  using Time = std::chrono::system_clock::time_point;
  struct Seen {
    Time time;
    Place place;
    std::uint64_t what;  ///< an XID; the bits of the reasons
  };
  void take_clocks(const Entity& entity, std::uint64_t bits, Time now);
  static void forget(std::deque<Seen>& list, Time oldest);

  EventWindows windows_;
  std::deque<Seen> xids_;
  std::deque<Seen> clocks_;
  std::map<Place, Counts> xid_totals_;
  std::map<Place, Counts> clock_totals_;
  std::map<Place, std::uint64_t> clock_bits_;  ///< of the last sample
};

/// "power_cap" for the bit 0x4; empty: it has no name.
std::string_view clock_event_name(std::uint64_t bit);

/// A value, and the labels that it has besides those of its entity.
struct EventSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  std::uint64_t value = 0;
};

/// Of DCGM_EXP_XID_ERRORS_COUNT and the like; where nothing happened, one of 0 without the label that tells what.
std::vector<EventSeries> event_series(const std::string& metric, const Entity& entity, const EventCounts& counts);
/// Of DCGM_EXP_P2P_STATUS: the state of NVLink to each of the other GPUs.
std::vector<EventSeries> peer_series(const Entity& entity, const Sample& sample);

}  // namespace slipway::dcgm
