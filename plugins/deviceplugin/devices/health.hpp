// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/health.hpp - which GPUs may be handed out: evidence against a GPU, and the proof that it
// is over.
//
// A GPU is sick from the first evidence on, and everything on it: replicas and MIG devices. It is healthy again once it
// answers and nothing new came for a while; after an error that needs a reset also that has to be seen, or the driver
// has to say that it asks for nothing. No restart is needed, and a restart forgets nothing.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <slipway/json.hpp>

namespace slipway::deviceplugin {

using Moment = std::chrono::steady_clock::time_point;

/// What an XID error says of the GPU.
enum class XidEffect {
  none,   ///< a program's mistake
  quiet,  ///< the GPU may be fine: it has to be quiet for a while
  reset,  ///< it needs a reset
};
XidEffect effect_of(unsigned xid);

/// DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS: numbers, "xids" or "all", separated by commas.
class XidFilter {
 public:
  XidFilter() : XidFilter("", "") {}
  XidFilter(std::string_view disabled, std::string_view enabled);
  XidEffect effect(unsigned xid) const;

 private:
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
  bool operator==(const Health&) const = default;
};

struct HealthRules {
  std::chrono::milliseconds quiet{30'000};        ///< without new evidence, before a GPU is trusted again
  std::chrono::milliseconds long_quiet{600'000};  ///< instead, after an error that needs a reset which nobody reports
};

class HealthBook {
 public:
  explicit HealthBook(HealthRules rules) : rules_(rules) {}

  void xid(const std::string& gpu, unsigned number, XidEffect effect, Moment now);
  /// An uncorrectable memory error.
  void ecc(const std::string& gpu, Moment now);
  void checked(const std::string& gpu, const Check& check, Moment now);
  /// NVML is gone, with all GPUs, until checks come again.
  void driver_gone(const std::string& why, Moment now);
  /// The GPU is no more.
  void forget(const std::string& gpu) { cases_.erase(gpu); }

  Health of(const std::string& gpu) const;
  /// The sick ones, for a file that outlives this process.
  Json save() const;
  /// What an earlier process knew: counts as new evidence now.
  void load(const Json& saved, Moment now);

 private:
  struct Case {
    Health health;
    bool needs_reset = false;
    bool silent = false;  ///< did not answer the last look
    Moment last;          ///< evidence
  };
  void accuse(const std::string& gpu, Health health, bool needs_reset, Moment now);
  bool is_over(const Case& each, const Check& check, Moment now) const;

  HealthRules rules_;
  std::map<std::string, Case> cases_;  ///< of sick GPUs
  std::optional<Health> driver_gone_;
};

Json to_json(const Health& health);

}  // namespace slipway::deviceplugin
