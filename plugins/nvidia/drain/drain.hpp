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
    std::string key;      ///< of the spec, for messages: "spec.components.mig.drain"
  };
  using Find = std::function<std::vector<Holder>()>;

  /// @param host  borrowed
  Drain(const Host& host, Settings settings, Change change)
      : host_(host), settings_(settings), change_(std::move(change)) {}

  /// Before anything is disturbed: whether the change may begin.
  /// @return `done`: it may; `waiting` with the holders; `reboot_required` with the policy next-boot, except at a boot
  /// Errors: `busy` the policy does not wait, or no longer, with the holders
  Result<Outcome> admit(const Find& find) const;
  /// The change begins: with the policy terminate the holders are ended. Else it is admit().
  Result<Outcome> clear(const Find& find) const;
  /// The change turned out to be impossible, and was taken back: somebody holds what is to change. Never `done`.
  Result<Outcome> refused(const std::vector<std::string>& holders) const;
  /// It is done, or not needed any more.
  void over() const;

 private:
  Error busy(const std::string& what, const std::vector<std::string>& holders, const std::string& next) const;
  Result<Outcome> end_holders(const Find& find) const;

  const Host& host_;
  Settings settings_;
  Change change_;
};

}  // namespace slipway::nvidia::drain
