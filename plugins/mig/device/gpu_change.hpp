// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/gpu_change.hpp - the change of one GPU, in phases: those of several GPUs are done side by side,
// and NVML may be opened anew between two phases.
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

/// Each phase may be called whatever the one before came to; it does nothing where nothing is left to do.
class GpuChange {
 public:
  /// @param known   whose profiles need not be asked again
  /// @param device  in this session of NVML
  GpuChange(Target target, Gpu known, nvmlDevice_t device);

  // Forward, in this order.
  void look(nvidia::nvml::Nvml& nvml);       ///< reads the GPU
  void switch_on(nvidia::nvml::Nvml& nvml);  ///< enables MIG
  void rearrange(nvidia::nvml::Nvml& nvml);  ///< destroys and creates instances, then disables MIG
  void settle(nvidia::nvml::Nvml& nvml);     ///< creates again what works until a later reset
  void check(nvidia::nvml::Nvml& nvml);      ///< that it is so now

  /// From here on switch_on() and rearrange() make a GPU again what it was, if anything was done to it.
  void turn_back();

  /// The driver has reset the GPU since this was asked last: what NVML's session knew of it is void.
  bool take_reset();
  /// Its mode was asked for, and only a reset brings it into force.
  bool waits_for_reset() const { return requested_.has_value() && former_.needs_reset; }
  /// A reset was tried. @param in_use  somebody uses the GPU, which is why it was refused
  void look_after_reset(nvidia::nvml::Nvml& nvml, const Status& reset, bool in_use);
  bool is_busy() const { return state_ == State::busy; }
  /// Of a GPU that turned out to be busy: what its holders are in the way of. Before turn_back(); valid until then.
  Changing changing(nvidia::nvml::Nvml& nvml);
  /// Who holds it.
  void hold(std::vector<std::string> holders) { holders_ = std::move(holders); }
  /// NVML is opened anew.
  void forget_handles();
  bool has_failed() const { return state_ == State::failed; }
  /// Something was changed or asked of it.
  bool is_touched() const { return touched_; }
  const Gpu& gpu() const { return former_; }
  /// Why a reset did not help; empty: none was tried.
  const std::string& refusal() const { return refusal_; }

  /// What came of it, once all phases are done. Errors: those of NVML; the details tell what could not be put back.
  Result<Outcome> result() const;
  /// After turn_back(): it is again what it was, or why not.
  const Status& back() const { return back_; }
  void fail(Error error);

 private:
  enum class State { open, already, done, busy, after_reset, failed };
  /// How a step ended that met no error.
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
  Gpu former_;           ///< what it was, and is to be again after a failure
  nvmlDevice_t device_;  ///< null: to be found again
  bool switched_on_ = false;
  std::optional<bool> requested_;        ///< a mode that waits for a reset
  std::string refusal_;                  ///< of the reset
  std::vector<InstanceHandle> handles_;  ///< of the instances that it had, until one is destroyed
  /// By the profile of the GPU instance and the slices: the profile of the compute instance.
  std::map<std::pair<unsigned, unsigned>, unsigned> compute_profiles_;
  bool enabled_;  ///< what the phases make
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
