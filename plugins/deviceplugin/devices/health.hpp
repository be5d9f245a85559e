// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/health.hpp - the GPUs that may be allocated: evidence against a GPU, and the proof that
// the fault is over.
//
// A GPU is unhealthy from the first evidence on, with all its replicas and MIG devices; evidence about a job in a GPU
// instance affects only the MIG devices of that instance. The GPU is healthy again once it answers and no new evidence
// came for a while; after an error that needs a reset, either the reset must be seen, or the driver must report that no
// action is needed. No restart is needed, and a restart keeps the state.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>

#include "nvidia/health/rules.hpp"
#include "nvidia/health/shared_health.hpp"

namespace slipway::deviceplugin {

using Moment = std::chrono::steady_clock::time_point;

/// The effect of an XID error on the GPU.
using XidEffect = nvidia::health::DeviceEffect;

/// Applies DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS (numbers, "xids" or "all", separated by commas) to the
/// health rules.
class XidFilter {
 public:
  /// `rules` are borrowed.
  XidFilter(std::string_view disabled, std::string_view enabled, const nvidia::health::Rules& rules);
  XidEffect effect(unsigned xid) const;
  /// True when "all" is disabled and nothing enabled: every GPU counts as healthy.
  bool nothing_counts() const { return all_disabled_ && !all_enabled_ && on_.empty(); }
  const nvidia::health::Rules& rules() const { return rules_; }

 private:
  const nvidia::health::Rules& rules_;
  bool all_disabled_ = false;  ///< the word "all"; "xids" leaves the other checks active
  bool all_off_ = false;
  bool all_enabled_ = false;
  std::set<unsigned> off_;
  std::set<unsigned> on_;
};

/// The result of checking a GPU.
struct Check {
  bool answers = true;
  bool hangs = false;                       ///< a call about it hangs
  std::string why;                          ///< the reason, if it does not answer
  std::optional<unsigned> recovery_action;  ///< the action that the driver asks for, 0: none; empty: this driver never
                                            ///< reports one
};

struct Health {
  bool healthy = true;
  std::string reason;  ///< stable word: "xid-79", "lost", "hangs", "ecc", "recovery-action", "driver-gone"
  std::string text;    ///< for people
  std::string remedy;
  bool waits = false;  ///< it answers and needs no reset: it becomes healthy after a while without new faults
  bool operator==(const Health&) const = default;
};

/// The reason while no GPU can be read.
inline constexpr const char* kDriverGone = "driver-gone";

struct HealthRules {
  std::chrono::milliseconds quiet_time{30'000};        ///< time without new faults before a GPU is healthy again
  std::chrono::milliseconds long_quiet_time{600'000};  ///< the same for an error that needs a reset, if the driver does
                                                       ///< not report resets
};

/// Returns the key for faults of a GPU instance (MIG); those of a whole GPU have its UUID as key.
std::string instance_key(const std::string& gpu, unsigned instance);

class HealthBook {
 public:
  explicit HealthBook(HealthRules rules) : rules_(rules) {}

  /// @param place  a GPU's UUID, or an instance_key()
  void xid(const std::string& place, const nvidia::health::XidRule& rule, XidEffect effect, Moment now);
  /// Another XID reports that this one is over.
  void cancelled(const std::string& place, unsigned number);
  /// Records an uncorrectable memory error.
  void ecc(const std::string& gpu, Moment now);
  void checked(const std::string& gpu, const Check& check, Moment now);
  /// NVML is gone, with all GPUs, until checks arrive again.
  void driver_gone(const std::string& why, Moment now);
  /// Forgets a GPU that has been removed.
  void forget(const std::string& gpu);

  /// With false, everything counts as healthy, but faults are still recorded.
  void set_counting(bool counting) { counting_ = counting; }
  /// Returns the health of a GPU, or of one instance by its instance_key().
  Health of(const std::string& place) const;
  /// True when no fault is recorded, not even one that does not count, and the driver answers.
  bool all_well() const { return open_faults_.empty() && !driver_gone_; }
  /// Returns the health of a GPU and its instances, for the file that services share. @param name  "GPU 3
  /// (0000:65:00.0)"
  nvidia::health::GpuHealth shared(const std::string& gpu, const std::string& name) const;
  /// Loads the faults of an earlier process as if they were new.
  void load(const nvidia::health::HealthOfGpus& saved, Moment now);
  /// Ends the faults that were seen before a reset by slipway (health::kPausePart), once the GPU answers.
  /// @return true when there were such faults
  bool was_reset(const std::string& gpu, const nvidia::health::GpuHealth& reset);
  /// Records an XID that another service saw, unless it was seen here too or is over. @return true when it is new
  bool take(const std::string& gpu, const nvidia::health::Fault& fault, XidEffect effect,
            const nvidia::health::Rules& rules, Moment now);

 private:
  struct OpenFault {
    Health health;
    bool needs_reset = false;
    bool silent = false;         ///< it did not answer the last check
    bool answers_again = false;  ///< after it was silent; the text mentions it
    Moment last;                 ///< evidence
    std::int64_t seen_at = 0;    ///< the same time, in the form of Fault::seen_at
    std::int64_t ends_at = 0;    ///< as Fault::ends_at, for a driver that does not report resets
  };
  void add_evidence(const std::string& gpu, Health health, bool needs_reset, Moment now);
  bool is_over(const OpenFault& each, const Check& check, Moment now) const;
  void end(const std::string& place, const char* how, Moment now);
  std::string probation() const;
  /// Returns the places of a GPU that have faults: the GPU itself and its instances.
  std::vector<std::string> places_of(const std::string& gpu) const;
  /// Returns when a fault ends without a reset; 0: the driver reports resets, or no reset is needed.
  std::int64_t ends_at(const OpenFault& each) const;

  HealthRules rules_;
  std::map<std::string, OpenFault> open_faults_;                 ///< of unhealthy GPUs and GPU instances
  std::map<std::string, nvidia::health::EndedFaults> ended_;     ///< the last faults that ended, by place
  std::map<std::pair<std::string, std::string>, Moment> taken_;  ///< XIDs that other services saw, by place and code
  std::optional<Health> driver_gone_;
  bool reports_resets_ = true;  ///< whether the driver reports resets, by the last check
  bool counting_ = true;
};

Json to_json(const Health& health);

}  // namespace slipway::deviceplugin
