// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/record.hpp - what is wrong with GPUs right now, by the rules: from XIDs and counters, until it
// is over.
#pragma once

#include <deque>

#include "nvidia/health/rules.hpp"
#include "nvidia/health/shared.hpp"

namespace slipway::dcgm {

/// What speaks against a GPU, or a GPU instance of it.
struct Reason {
  std::string code;  ///< "xid-79", "row-remap-failure"
  nvidia::health::Severity severity = nvidia::health::Severity::degraded;
  nvidia::health::Scope scope = nvidia::health::Scope::gpu;
  std::string text;    ///< "XID 79: the GPU has fallen off the bus"
  std::string remedy;  ///< what is to be done
  std::optional<unsigned> instance;
  std::int64_t xid_at = 0;  ///< of an XID: when it was last seen, in seconds since 1970
  bool operator==(const Reason&) const = default;
};

/// Used by one thread. Times only grow.
class HealthRecord {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// @param instance  the GPU instance that the driver named, if any
  /// @param text      behind the number in the kernel's log; empty: NVML told of it
  void xid(const std::string& gpu, std::optional<unsigned> instance, unsigned number,
           const nvidia::health::Rules& rules, Moment now, const std::string& text = {});
  /// The value of a rule's counter at a look.
  void value(const std::string& gpu, const nvidia::health::CounterRule& rule, double value, Moment now);
  /// After each look: a GPU that was away and answers again was reset, and findings end by themselves. What the rules
  /// do not hold against a GPU any more ends as well, and what stays is told as they tell it now.
  void looked(const std::string& gpu, bool answers, const nvidia::health::Rules& rules, Moment now);
  /// The rules whose counters are looked at; findings of others end, since nothing would end them.
  void only(const std::string& gpu, const std::set<std::string>& rules);
  /// What another service says has ended is over here as well, but for counters.
  void end(const std::string& gpu, const nvidia::health::GpuHealth& other);
  /// For the file that services share, and back: XIDs from an earlier process.
  std::vector<nvidia::health::Fault> faults(const std::string& gpu) const;
  void load(const std::string& gpu, const std::vector<nvidia::health::Fault>& faults);
  /// The worst first, then by code.
  std::vector<Reason> of(const std::string& gpu) const;

 private:
  struct Case {
    Reason reason;
    Moment last;
    bool of_counter = false;                      ///< ends with its counter, not with time
    unsigned xid = 0;                             ///< of others
    std::string xid_text = {};                    ///< of the kernel's log
    std::int64_t seen_at = 0;                     ///< `last`, as nvidia::health::Fault::seen_at
    std::optional<unsigned> named_instance = {};  ///< by the driver; whether it counts, the rule's scope says
  };
  struct Point {
    Moment time;
    double value;
  };
  struct Counter {
    std::deque<Point> points;  ///< for rules about growth: as long as their window
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
