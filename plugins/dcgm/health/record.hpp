// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/record.hpp - the current faults of GPUs, by the rules: from XIDs and counters, until they are
// over.
#pragma once

#include <deque>

#include "nvidia/health/rules.hpp"
#include "nvidia/health/shared_health.hpp"

namespace slipway::dcgm {

/// A fault of a GPU or GPU instance.
struct Reason {
  std::string code;  ///< "xid-79", "row-remap-failure"
  nvidia::health::Severity severity = nvidia::health::Severity::degraded;
  nvidia::health::Scope scope = nvidia::health::Scope::gpu;
  std::string text;    ///< "XID 79: the GPU has fallen off the bus"
  std::string remedy;  ///< the remedy
  std::optional<unsigned> instance;
  std::int64_t xid_at = 0;  ///< for an XID: when it was last seen, in seconds since 1970
  bool operator==(const Reason&) const = default;
};

/// Used by one thread. Times must not decrease.
class HealthRecord {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// @param instance  the GPU instance in the driver's message, if any
  /// @param text      text behind the number in the kernel's log; empty: NVML reported it
  void xid(const std::string& gpu, std::optional<unsigned> instance, unsigned number,
           const nvidia::health::Rules& rules, Moment now, const std::string& text = {});
  /// Records the value of a rule's counter.
  void value(const std::string& gpu, const nvidia::health::CounterRule& rule, double value, Moment now);
  /// Called after each check: a GPU that was gone and answers again was reset, and findings expire. Faults that the
  /// rules no longer count end too, and the others get the rules' current texts.
  void looked(const std::string& gpu, bool answers, const nvidia::health::Rules& rules, Moment now);
  /// Sets the rules whose counters are read; findings of other rules end, because no value would end them.
  void only(const std::string& gpu, const std::set<std::string>& rules);
  /// Ends the faults that have ended according to another service, except those of counters.
  void end(const std::string& gpu, const nvidia::health::GpuHealth& other);
  /// Convert to and from the file that services share; load() takes XIDs of an earlier process.
  std::vector<nvidia::health::Fault> faults(const std::string& gpu) const;
  void load(const std::string& gpu, const std::vector<nvidia::health::Fault>& faults);
  /// Returns the worst first, then by code.
  std::vector<Reason> of(const std::string& gpu) const;

 private:
  struct Case {
    Reason reason;
    Moment last;
    bool of_counter = false;                      ///< ends with its counter, not after a time
    unsigned xid = 0;                             ///< of others
    std::string xid_text = {};                    ///< from the kernel's log
    std::int64_t seen_at = 0;                     ///< `last`, as Fault::seen_at
    std::optional<unsigned> named_instance = {};  ///< from the driver; the rule's scope says whether it counts
  };
  struct Point {
    Moment time;
    double value;
  };
  struct Counter {
    std::deque<Point> points;  ///< for rules about growth: covers their window
    std::optional<Moment> above_since;
  };
  struct Gpu {
    std::map<std::pair<std::string, unsigned>, Case> cases;  ///< by code and instance, or kWhole
    std::map<std::string, Counter> counters;                 ///< by rule
    bool away = false;
  };
  static void judge_again(Gpu& gpu, const nvidia::health::Rules& rules);

  std::map<std::string, Gpu> gpus_;
};

}  // namespace slipway::dcgm
