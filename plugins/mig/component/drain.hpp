// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/drain.hpp - the change of a GPU as the drain policy of the spec lets it happen.
#pragma once

#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "mig/device/change.hpp"
#include "mig/layout/intent.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// Whether the change may begin, as Drain::admit() says it. Changes nothing.
Result<Outcome> may_change_gpu(nvidia::nvml::Nvml& nvml, const Host& host, const Target& target,
                               const nvidia::drain::Settings& settings);
/// change_gpu() once the users of what has to go have gone, or were ended.
Result<Outcome> drain_and_change_gpu(nvidia::nvml::Nvml& nvml, const Host& host, const Target& target,
                                     const nvidia::drain::Settings& settings);

/// Finding "mig.in-use": who holds what has to change, and since when it waits. None where nobody does.
Status find_in_use(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents, Findings& findings);

}  // namespace slipway::mig
