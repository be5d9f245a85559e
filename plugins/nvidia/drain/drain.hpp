// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/drain.hpp - what becomes of a change whose GPUs somebody uses, by the drain policy.
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

/// Behind a sentence about a GPU in use, where no holder was found.
inline constexpr const char* kNobodyFound =
    "; no process was found that uses it: a module of the kernel or a virtual machine may";

/// A change that needs GPUs for itself. Since when it waits stands below /run/slipway/drain, which a boot empties.
class Drain {
 public:
  struct Change {
    std::string name;     ///< of what is changed: "gpu-9cffd1a2-…". Small letters, digits and '-'
    std::string target;   ///< what it is to be; another target begins to wait anew
    std::string subject;  ///< "GPU 3 (0000:65:00.0)"
    std::string in_use;   ///< a sentence: "GPU 3 (…) is in use, so its layout was left as it was (7 x 1g.10gb)"
    std::string key;  ///< of the spec, for messages: "spec.components.mig.drain"; empty: there is no policy to choose
  };
  /// The holders of several changes, in their order.
  using Find = std::function<std::vector<std::vector<DeviceHolder>>()>;

  /// @param host  borrowed
  Drain(const Host& host, Settings settings, Change change)
      : host_(host), settings_(settings), change_(std::move(change)) {}

  /// The change is left to the next boot, whoever holds what it needs.
  bool is_for_a_boot() const { return settings_.policy == Policy::next_boot && !host_.booting(); }
  /// Before anything is disturbed: whether the change may begin.
  /// @return `done`: it may; `waiting` with the holders; `reboot_required` with the policy next-boot, except at a boot
  /// Errors: `busy` the policy does not wait, or no longer, with the holders; or it would end them, and one of them
  /// must not or cannot be ended
  Result<Outcome> admit(const std::vector<DeviceHolder>& holders) const;
  /// Changes of one policy begin together: with the policy terminate the holders of all are ended at once, and nobody
  /// is when one of them must not or cannot be. Else it is admit() of each.
  /// @return one outcome for each
  static Result<std::vector<Outcome>> clear(const std::vector<const Drain*>& changes, const Find& find);
  /// What became of changes that begin together or not at all. Errors: the first, with who is in the way of the others.
  static Result<std::vector<Outcome>> all_of(std::vector<Result<Outcome>> each,
                                             const std::vector<const Drain*>& changes);
  /// The change turned out to be impossible, and was taken back: somebody holds what is to change. Never `done`.
  Result<Outcome> refused(const std::vector<std::string>& holders) const;
  /// It is done, or not needed any more.
  void over() const;

 private:
  /// @param ending  what ends the holders: how_to_end()
  Result<Outcome> refused(const std::vector<std::string>& holders, const std::string& ending) const;
  Error busy(const std::string& what, const std::vector<std::string>& holders, const std::string& next) const;
  static Error busy(const std::vector<const Drain*>& changes, const std::vector<std::vector<DeviceHolder>>& holders,
                    const std::vector<Remaining>& remaining);
  /// @return the holders of each that have been ended
  static Result<std::vector<std::vector<DeviceHolder>>> end_holders(const std::vector<const Drain*>& changes,
                                                                    const Find& find);

  const Host& host_;
  Settings settings_;
  Change change_;
};

}  // namespace slipway::nvidia::drain
