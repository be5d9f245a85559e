// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/drain.hpp - the change of a GPU as the drain policy of the spec lets it happen.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "mig/device/change.hpp"
#include "mig/device/read.hpp"
#include "mig/device/target.hpp"
#include "mig/layout/intent.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// GPUs, what they are to be, and what is done about who uses them. Borrows the host.
class GpuDrains {
 public:
  /// Reads the GPUs. Errors: those of open_gpus().
  static Result<GpuDrains> open(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Target>& targets,
                                const nvidia::drain::Settings& settings);

  bool any_changes() const { return !changing().empty(); }
  /// Before anything is disturbed, as Drain::admit(); `already_done` where nothing has to change. One for each GPU.
  /// @param clients  units that will be stopped before the change begins, and are in nobody's way
  Result<std::vector<Outcome>> admit(nvidia::nvml::Nvml& nvml, const std::vector<std::string>& clients) const;
  /// The change begins, as Drain::clear().
  Result<std::vector<Outcome>> clear(nvidia::nvml::Nvml& nvml) const;
  /// What the change of a GPU came to is what the policy makes of it. Errors: those of Drain::refused().
  Result<Outcome> after(std::size_t gpu, const Outcome& change) const;

  Wanted wanted(std::size_t gpu) const;

 private:
  struct Each {
    Target target;
    OpenGpu open;
    nvidia::drain::Drain drain;
    bool holds() const { return is_so(open.gpu, target); }
  };
  GpuDrains(const Host& host, std::vector<Each> all) : host_(host), all_(std::move(all)) {}
  /// Of those that have to change.
  std::vector<const Each*> changing() const;
  std::vector<std::vector<nvidia::drain::Holder>> find(nvidia::nvml::Nvml& nvml) const;
  std::vector<Outcome> with_others(std::vector<Outcome> of_changing) const;

  const Host& host_;
  std::vector<Each> all_;
};

/// For each GPU that has to change and is in use by others than these units, which an apply stops for the time: "GPU 0
/// (0000:18:00.0) is held by trainer (pid 4711) on 1g.10gb at 2".
Result<std::vector<std::string>> held_now(nvidia::nvml::Nvml& nvml, const Host& host,
                                          const std::vector<Intent>& intents, const std::vector<std::string>& clients);
/// What an apply makes of one of these by its drain policy.
std::string held_note(const std::string& user, const nvidia::drain::Settings& settings);

/// Finding "mig.in-use": who holds what has to change, and since when it waits. None where nobody does.
Status find_in_use(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents, Findings& findings);

}  // namespace slipway::mig
