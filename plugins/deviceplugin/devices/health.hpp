// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/health.hpp - which GPUs may be handed out: evidence against a GPU, and the proof that it
// is over.
//
// A GPU is sick from the first evidence on, and everything on it: replicas and MIG devices; evidence that names a GPU
// instance, and is about a job, speaks against the MIG devices of that one alone. It is healthy again once it
// answers and nothing new came for a while; after an error that needs a reset also that has to be seen, or the driver
// has to say that it asks for nothing. No restart is needed, and a restart forgets nothing.
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
#include "nvidia/health/shared.hpp"

namespace slipway::deviceplugin {

using Moment = std::chrono::steady_clock::time_point;

/// What an XID error says of the GPU.
using XidEffect = nvidia::health::DeviceEffect;

/// DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS (numbers, "xids" or "all", separated by commas) over the health
/// rules.
class XidFilter {
 public:
  /// `rules` are borrowed.
  XidFilter(std::string_view disabled, std::string_view enabled, const nvidia::health::Rules& rules);
  XidEffect effect(unsigned xid) const;
  /// "all" is disabled, and nothing enabled: no GPU is unhealthy, whatever happens to it.
  bool nothing_counts() const { return whole_off_ && !all_on_ && on_.empty(); }
  const nvidia::health::Rules& rules() const { return rules_; }

 private:
  const nvidia::health::Rules& rules_;
  bool whole_off_ = false;  ///< the word "all"; "xids" leaves the other evidence
  bool all_off_ = false;
  bool all_on_ = false;
  std::set<unsigned> off_;
  std::set<unsigned> on_;
};

/// What a look at a GPU found.
struct Check {
  bool answers = true;
  bool hangs = false;                       ///< a call about it does not come back
  std::string why;                          ///< when it does not answer
  std::optional<unsigned> recovery_action;  ///< what the driver asks for, 0: nothing; empty: this driver never says
};

struct Health {
  bool healthy = true;
  std::string reason;  ///< stable word: "xid-79", "lost", "hangs", "ecc", "recovery-action", "driver-gone"
  std::string text;    ///< for people
  std::string remedy;
  bool waits = false;  ///< it answers and needs no reset: it is healthy again when nothing new comes for a while
  bool operator==(const Health&) const = default;
};

/// The reason while no GPU can be asked.
inline constexpr const char* kDriverGone = "driver-gone";

struct HealthRules {
  std::chrono::milliseconds quiet{30'000};        ///< without new evidence, before a GPU is trusted again
  std::chrono::milliseconds long_quiet{600'000};  ///< instead, after an error that needs a reset which nobody reports
};

/// What evidence against a GPU instance (MIG) stands under; that of a whole GPU stands under its UUID.
std::string instance_key(const std::string& gpu, unsigned instance);

class HealthBook {
 public:
  explicit HealthBook(HealthRules rules) : rules_(rules) {}

  /// @param place  a GPU's UUID, or an instance_key()
  void xid(const std::string& place, const nvidia::health::XidRule& rule, XidEffect effect, Moment now);
  /// An XID is over, since another one says so.
  void cancelled(const std::string& place, unsigned number);
  /// An uncorrectable memory error.
  void ecc(const std::string& gpu, Moment now);
  void checked(const std::string& gpu, const Check& check, Moment now);
  /// NVML is gone, with all GPUs, until checks come again.
  void driver_gone(const std::string& why, Moment now);
  /// The GPU is no more.
  void forget(const std::string& gpu);

  /// While evidence does not count, everything is healthy; it is kept all the same.
  void set_counting(bool counting) { counting_ = counting; }
  /// Of a GPU, or of an instance_key() alone.
  Health of(const std::string& place) const;
  /// There is no evidence against anything, counting or not, and the driver answers.
  bool all_well() const { return cases_.empty() && !driver_gone_; }
  /// Of a GPU and its instances, for the file that services share. @param name  "GPU 3 (0000:65:00.0)"
  nvidia::health::GpuHealth shared(const std::string& gpu, const std::string& name) const;
  /// What an earlier process knew: counts as new evidence now.
  void load(const nvidia::health::HealthOfGpus& saved, Moment now);
  /// A reset that slipway knows of (health::kPausePart) has ended what was seen before it, once the GPU answers.
  /// @return there was something
  bool was_reset(const std::string& gpu, const nvidia::health::GpuHealth& reset);
  /// An XID that another service saw, unless it was seen here as well or is over. @return it is news
  bool take(const std::string& gpu, const nvidia::health::Fault& fault, XidEffect effect,
            const nvidia::health::Rules& rules, Moment now);

 private:
  struct Case {
    Health health;
    bool needs_reset = false;
    bool silent = false;         ///< did not answer the last look
    bool answers_again = false;  ///< after it was silent; the text says so
    Moment last;                 ///< evidence
    std::int64_t seen_at = 0;    ///< the same, as Fault::seen_at
    std::int64_t ends_at = 0;    ///< as Fault::ends_at, of a driver that does not report resets
  };
  void accuse(const std::string& gpu, Health health, bool needs_reset, Moment now);
  bool is_over(const Case& each, const Check& check, Moment now) const;
  void end(const std::string& place, const char* how, Moment now);
  std::string probation() const;
  /// The places of a GPU that there is evidence against: itself, and its instances.
  std::vector<std::string> places_of(const std::string& gpu) const;
  /// When a case ends without a reset; 0: the driver reports one, or none is needed.
  std::int64_t ends_at(const Case& each) const;

  HealthRules rules_;
  std::map<std::string, Case> cases_;                            ///< of sick GPUs and GPU instances
  std::map<std::string, nvidia::health::EndedFaults> ended_;     ///< the last end, by place
  std::map<std::pair<std::string, std::string>, Moment> taken_;  ///< what others saw, by place and code
  std::optional<Health> driver_gone_;
  bool reports_resets_ = true;  ///< the driver, by the last look
  bool counting_ = true;
};

Json to_json(const Health& health);

}  // namespace slipway::deviceplugin
