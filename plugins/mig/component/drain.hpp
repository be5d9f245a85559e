// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/drain.hpp - the change of a GPU as the drain policy of the spec lets it happen.
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

/// Users are waited for, and GPUs that nobody uses change meanwhile.
bool waits(const nvidia::drain::Settings& settings);

/// GPUs, what they are to be, and what is done about who uses them. Borrows the host.
class GpuDrains {
 public:
  /// Reads the GPUs. @param key  of the drain policy in the spec; empty: there is none @param kubelet_socket  as for
  /// ask_kubelet() Errors: those of open_gpus().
  static Result<GpuDrains> open(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Target>& targets,
                                const nvidia::drain::Settings& settings, const std::string& key,
                                const std::string& kubelet_socket);

  bool any_changes() const { return !changing().empty(); }
  /// Before anything is disturbed, as Drain::admit(); `already_done` where nothing has to change. One for each GPU.
  /// @param clients  units that will be stopped before the change begins, and are in nobody's way
  Result<std::vector<Outcome>> admit(nvidia::nvml::Nvml& nvml, const std::vector<std::string>& clients) const;
  /// The change begins, as Drain::clear().
  Result<std::vector<Outcome>> clear(nvidia::nvml::Nvml& nvml) const;
  /// What the change of a GPU came to is what the policy makes of it. Errors: those of Drain::refused().
  Result<Outcome> after(std::size_t gpu, const Outcome& change) const;

  Wanted wanted(std::size_t gpu) const;
  /// Of the GPUs that are what they are to be, or become it by these outcomes: "GPU 0-2, 5 have their layouts"; empty:
  /// there are none. @param outcomes  one for each; none: as the GPUs are
  std::string settled_text(const std::vector<Outcome>& outcomes = {}) const;

 private:
  struct Each {
    Target target;
    OpenGpu open;
    nvidia::drain::Drain drain;
    bool holds() const { return is_so(open.gpu, target); }
  };
  GpuDrains(const Host& host, std::vector<Each> all, std::string kubelet_socket)
      : host_(host), all_(std::move(all)), kubelet_socket_(std::move(kubelet_socket)) {}
  /// Of those that have to change.
  std::vector<const Each*> changing() const;
  std::vector<std::vector<nvidia::drain::DeviceHolder>> find(nvidia::nvml::Nvml& nvml) const;
  std::vector<Outcome> with_others(std::vector<Outcome> of_changing) const;

  const Host& host_;
  std::vector<Each> all_;
  std::string kubelet_socket_;
};

/// For each GPU that has to change and is in use by others than these units, which an apply stops for the time, what
/// the apply makes of it: "GPU 0 (0000:18:00.0) is held by trainer (pid 4711) on 1g.10gb at 2; an apply fails until
/// that has ended (drain: fail-fast)".
Result<std::vector<std::string>> held_notes(nvidia::nvml::Nvml& nvml, const Host& host, const Settings& settings,
                                            const std::vector<Intent>& intents,
                                            const std::vector<std::string>& clients);

/// Finding "mig.in-use": who holds what has to change, and since when it waits. None where nobody does.
Status find_in_use(nvidia::nvml::Nvml& nvml, const Host& host, const Settings& settings,
                   const std::vector<Intent>& intents, Findings& findings);

}  // namespace slipway::mig
