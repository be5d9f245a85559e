// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/pods_and_health.hpp - the service's data about the GPUs besides NVML's sample, for the page:
// pods from kubelet, health by the rules.
#pragma once

#include "dcgm/health/health_watch.hpp"
#include "dcgm/page/overview.hpp"
#include "dcgm/pods/attribution.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Collects facts that the service already has; without side effects.
PodsAndHealth pods_and_health_of(const Sample& sample, const Attribution& attribution,
                                 const AttributionSettings& settings, const HealthWatch& health);

}  // namespace slipway::dcgm
