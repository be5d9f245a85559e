// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/drain.hpp - the change of a GPU as the drain policy of the spec lets it happen.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "mig/device/target.hpp"
#include "mig/layout/intent.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// A GPU, what it is to be, and what is done about who uses it. Borrows the host.
class GpuDrain {
 public:
  /// Reads the GPU. Errors: those of NVML.
  static Result<GpuDrain> open(nvidia::nvml::Nvml& nvml, const Host& host, Target target,
                               const nvidia::drain::Settings& settings);

  /// Before anything is disturbed, as Drain::admit(); `already_done` where nothing has to change.
  Result<Outcome> admit(nvidia::nvml::Nvml& nvml) const;
  /// The change begins, as Drain::clear().
  Result<Outcome> clear(nvidia::nvml::Nvml& nvml) const;
  /// What the change came to is what the policy makes of it. Errors: those of Drain::refused().
  Result<Outcome> after(const Outcome& change) const;

  const Target& target() const { return target_; }
  const Gpu& gpu() const { return gpu_; }

 private:
  GpuDrain(const Host& host, Target target, Gpu gpu, nvmlDevice_t device, const nvidia::drain::Settings& settings);
  nvidia::drain::Drain::Find find(nvidia::nvml::Nvml& nvml) const;

  const Host& host_;
  Target target_;
  Gpu gpu_;
  nvmlDevice_t device_;
  nvidia::drain::Drain drain_;
};

/// For each GPU that has to change and is in use: "GPU 0 (0000:18:00.0) is held by trainer (pid 4711) on 1g.10gb at 2".
Result<std::vector<std::string>> held_now(nvidia::nvml::Nvml& nvml, const Host& host,
                                          const std::vector<Intent>& intents);
/// What an apply makes of one of these by its drain policy.
std::string held_note(const std::string& user, const nvidia::drain::Settings& settings);

/// Finding "mig.in-use": who holds what has to change, and since when it waits. None where nobody does.
Status find_in_use(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents, Findings& findings);

}  // namespace slipway::mig
