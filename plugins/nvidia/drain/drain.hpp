// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/drain.hpp - decides by the drain policy what happens to a change whose GPUs are in use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "nvidia/drain/holders.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/drain/terminate.hpp"

namespace slipway::nvidia::drain {

/// Appended to a sentence about a GPU in use if no user was found.
inline constexpr const char* kNoHolderFound =
    "; no process was found that uses it: perhaps a kernel module or a virtual machine does";

/// For plans: what an apply will do about these: "an apply fails until that has ended (drain: fail-fast)".
std::string effect_text(const Host& host, const std::vector<DeviceHolder>& holders, const Settings& settings);

/// A change that needs exclusive use of GPUs. The start of its wait is recorded below /run/slipway/drain, which a boot
/// empties.
class Drain {
 public:
  struct Change {
    std::string name;     ///< id of the changed GPU: "gpu-9cffd1a2-…". Lower-case letters, digits and '-'
    std::string target;   ///< the target state; a new target restarts the wait
    std::string subject;  ///< "GPU 3 (0000:65:00.0)"
    std::string in_use;   ///< a sentence: "GPU 3 (…) is in use, so its layout was left as it was (7 x 1g.10gb)"
    std::string key;      ///< key of the spec, for messages: "spec.components.mig.drain"; empty: no policy can be set
  };
  /// Finds the holders of several changes, in their order.
  using Find = std::function<std::vector<std::vector<DeviceHolder>>()>;

  /// @param host  borrowed
  Drain(const Host& host, Settings settings, Change change)
      : host_(host), settings_(settings), change_(std::move(change)) {}

  /// True when the change is left to the next boot, whether the GPUs are in use or not.
  bool is_for_a_boot() const { return settings_.policy == Policy::next_boot && !host_.booting(); }
  /// Called before any change: decides whether the change may begin.
  /// @return `done`: it may; `waiting` with the holders; `reboot_required` with the policy next-boot, except at a boot
  /// Errors: `busy` with the holders: the policy does not wait, or the wait is over; or the policy ends holders, but
  /// one of them must not or cannot be ended
  Result<Outcome> admit(const std::vector<DeviceHolder>& holders) const;
  /// Starts the changes of one policy together: the policy terminate ends the holders of all at once, or none of them
  /// if one must not or cannot be ended. For other policies it calls admit() for each.
  /// @return one outcome for each
  static Result<std::vector<Outcome>> clear(const std::vector<const Drain*>& changes, const Find& find);
  /// Combines the results of changes that begin together or not at all. Errors: the first one, with the holders that
  /// block the others.
  static Result<std::vector<Outcome>> all_of(std::vector<Result<Outcome>> each,
                                             const std::vector<const Drain*>& changes);
  /// Handles a change that turned out to be impossible and was taken back, because a process holds its GPU. Never
  /// `done`.
  Result<Outcome> refused(const std::vector<std::string>& holders) const;
  /// Called when the change is done, or no longer needed.
  void over() const;

 private:
  /// @param ending  how to end the holders: from how_to_end()
  Result<Outcome> refused(const std::vector<std::string>& holders, const std::string& ending) const;
  Error busy(const std::string& what, const std::vector<std::string>& holders, const std::string& next) const;
  static Error busy(const std::vector<const Drain*>& changes, const std::vector<std::vector<DeviceHolder>>& holders,
                    const std::vector<Remaining>& remaining);
  /// @return the ended holders of each change
  static Result<std::vector<std::vector<DeviceHolder>>> end_holders(const std::vector<const Drain*>& changes,
                                                                    const Find& find);

  const Host& host_;
  Settings settings_;
  Change change_;
};

}  // namespace slipway::nvidia::drain
