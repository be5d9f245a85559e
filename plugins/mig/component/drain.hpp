// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/drain.hpp - the change of a GPU under the drain policy of the spec.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "mig/component/settings.hpp"
#include "mig/device/change.hpp"
#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/layout/intent.hpp"
#include "mig/layout/target.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// True when the policy waits for users, and changes unused GPUs meanwhile.
bool waits(const nvidia::drain::Settings& settings);

/// GPUs, their targets, and how their users are handled. Borrows the host.
class GpuDrains {
 public:
  /// Reads the GPUs. @param key  of the drain policy in the spec; empty: none @param kubelet_socket  as for
  /// ask_kubelet(). Errors: those of open_gpus().
  static Result<GpuDrains> open(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Target>& targets,
                                const nvidia::drain::Settings& settings, const std::string& key,
                                const std::string& kubelet_socket);

  bool any_changes() const { return !changing().empty(); }
  /// Called before any change, like Drain::admit(). Returns one outcome per GPU; `already_done` if nothing has to
  /// change.
  /// @param clients  units that will be stopped before the change begins, so they do not block it
  Result<std::vector<Outcome>> admit(nvidia::nvml::Nvml& nvml, const std::vector<std::string>& clients) const;
  /// Called when the change begins, like Drain::clear().
  Result<std::vector<Outcome>> clear(nvidia::nvml::Nvml& nvml) const;
  /// Applies the policy to the outcome of a GPU's change. Errors: those of Drain::refused().
  Result<Outcome> after(std::size_t gpu, const Outcome& change) const;

  Wanted wanted(std::size_t gpu) const;
  /// Lists the GPUs that have their target, or get it by these outcomes: "GPU 0-2, 5 have their layouts"; empty: none.
  /// @param outcomes  one for each GPU; empty: the current state
  std::string settled_text(const std::vector<Outcome>& outcomes = {}) const;

 private:
  struct GpuDrain {
    Target target;
    OpenGpu open;
    nvidia::drain::Drain drain;
    bool holds() const { return matches_target(open.gpu, target); }
  };
  GpuDrains(const Host& host, std::vector<GpuDrain> all, std::string kubelet_socket)
      : host_(host), all_(std::move(all)), kubelet_socket_(std::move(kubelet_socket)) {}
  /// Returns the GPUs that have to change.
  std::vector<const GpuDrain*> changing() const;
  std::vector<std::vector<nvidia::drain::DeviceHolder>> find(nvidia::nvml::Nvml& nvml) const;
  std::vector<Outcome> with_others(std::vector<Outcome> changing_outcomes) const;

  const Host& host_;
  std::vector<GpuDrain> all_;
  std::string kubelet_socket_;
};

/// Returns for each GPU that has to change, and is in use by others than these units (an apply stops them), what the
/// apply will do: "GPU 0 (0000:18:00.0) is held by trainer (pid 4711) on 1g.10gb at 2; an apply fails until that has
/// ended (drain: fail-fast)".
Result<std::vector<std::string>> held_notes(nvidia::nvml::Nvml& nvml, const Host& host, const Settings& settings,
                                            const std::vector<Intent>& intents,
                                            const std::vector<std::string>& clients);

/// Adds the finding "mig.in-use": the users of instances that have to change, and how long the change has waited. None
/// if there are no users.
Status find_in_use(nvidia::nvml::Nvml& nvml, const Host& host, const Settings& settings,
                   const std::vector<Intent>& intents, Findings& findings);

}  // namespace slipway::mig
