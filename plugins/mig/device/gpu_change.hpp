// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/gpu_change.hpp - the change of one GPU, in phases: those of several GPUs are done side by side,
// and NVML may be reopened between two phases.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/layout/arrange.hpp"
#include "mig/layout/gpu.hpp"
#include "mig/layout/target.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// Each phase may be called after any result of the previous one; it does nothing if no work is left.
class GpuChange {
 public:
  /// @param known   the GPU as read before: its profiles are not read again
  /// @param device  in this session of NVML
  GpuChange(Target target, Gpu known, nvmlDevice_t device);

  // Forward, in this order.
  void look(nvidia::nvml::Nvml& nvml);       ///< reads the GPU
  void switch_on(nvidia::nvml::Nvml& nvml);  ///< enables MIG
  void rearrange(nvidia::nvml::Nvml& nvml);  ///< destroys and creates instances, then disables MIG
  void settle(nvidia::nvml::Nvml& nvml);     ///< re-creates the instances that keep working until a later reset
  void check(nvidia::nvml::Nvml& nvml);      ///< that the target is reached

  /// From here on switch_on() and rearrange() restore the GPU's former state, if it was changed.
  void turn_back();

  /// True when the driver has reset the GPU since the last call, so that NVML's session is outdated.
  bool take_reset();
  /// True when the mode was requested and takes effect only with a reset.
  bool waits_for_reset() const { return requested_.has_value() && former_.needs_reset; }
  /// Handles the result of a reset. @param in_use  the reset was refused because the GPU is in use
  void look_after_reset(nvidia::nvml::Nvml& nvml, const Status& reset, bool in_use);
  bool is_busy() const { return state_ == State::busy; }
  /// Returns what a busy GPU's users block. Call it before turn_back(); valid until then.
  Changing changing(nvidia::nvml::Nvml& nvml);
  /// Its holders.
  void hold(std::vector<std::string> holders) { holders_ = std::move(holders); }
  /// Called when NVML is opened again.
  void forget_handles();
  bool has_failed() const { return state_ == State::failed; }
  /// True when the GPU was changed or a change was requested.
  bool is_touched() const { return touched_; }
  const Gpu& gpu() const { return former_; }
  /// Says why a reset did not help; empty: no reset was tried.
  const std::string& refusal() const { return refusal_; }

  /// Returns the outcome after all phases. Errors: those of NVML; the details list what could not be restored.
  Result<Outcome> result() const;
  /// After turn_back(): whether the former state is restored, or why not.
  const Status& back() const { return back_; }
  void fail(Error error);

 private:
  enum class State { open, already, done, busy, after_reset, failed };
  /// The result of a step without an error.
  enum class End { done, busy, needs_reset };

  Result<End> make_mode(nvidia::nvml::Nvml& nvml, bool enabled);
  Result<End> make_instances(nvidia::nvml::Nvml& nvml);
  Result<End> destroy(nvidia::nvml::Nvml& nvml, const Gpu& now, const std::vector<Difference::Part>& parts);
  Result<End> create(nvidia::nvml::Nvml& nvml, const std::vector<Difference::Part>& parts);
  Result<End> create_compute(nvidia::nvml::Nvml& nvml, nvmlGpuInstance_t instance, const Difference::Part& part);
  Result<unsigned> compute_profile(nvidia::nvml::Nvml& nvml, nvmlGpuInstance_t instance, unsigned gpu_profile,
                                   unsigned slices);
  Result<nvmlDevice_t> device(nvidia::nvml::Nvml& nvml);
  Result<Gpu> now(nvidia::nvml::Nvml& nvml);
  Status place(const Gpu& now);
  void take(const Result<End>& end);
  bool goes_on() const { return turning_ ? touched_ && back_.ok() : state_ == State::open; }
  Error failed(nvmlReturn_t code, const std::string& doing) const;
  Outcome waiting() const;
  Outcome after_reset() const;

  Target target_;
  Gpu former_;           ///< the state before, which is restored after a failure
  nvmlDevice_t device_;  ///< null: it has to be found again
  bool switched_on_ = false;
  std::optional<bool> requested_;        ///< a mode that waits for a reset
  std::string refusal_;                  ///< of the reset
  std::vector<InstanceHandle> handles_;  ///< of its former instances, until one is destroyed
  /// By the profile of the GPU instance and the slices: the profile of the compute instance.
  std::map<std::pair<unsigned, unsigned>, unsigned> compute_profiles_;
  bool enabled_;  ///< target mode of the phases
  Instances instances_;
  State state_ = State::open;
  std::vector<std::string> holders_;
  std::optional<Error> error_;
  bool touched_ = false;
  bool turning_ = false;
  bool was_reset_ = false;
  Status back_;
};

}  // namespace slipway::mig
