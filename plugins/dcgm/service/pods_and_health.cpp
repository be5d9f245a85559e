// SPDX-License-Identifier: Apache-2.0
#include "dcgm/service/pods_and_health.hpp"

namespace slipway::dcgm {
namespace {

Level level_of(nvidia::health::Severity severity) {
  switch (severity) {
    case nvidia::health::Severity::information:
    case nvidia::health::Severity::application:
      return Level::note;
    case nvidia::health::Severity::degraded:
      return Level::attention;
    case nvidia::health::Severity::fatal:
      break;
  }
  return Level::bad;
}

/// Returns the text of an XID with its time.
std::string text_of(const Reason& reason) {
  if (reason.xid_at == 0) return reason.text;
  return reason.text + " (seen at " + clock_text(History::Time(std::chrono::seconds(reason.xid_at))) + ")";
}

}  // namespace

PodsAndHealth pods_and_health_of(const Sample& sample, const Attribution& attribution,
                                 const AttributionSettings& settings, const HealthWatch& health) {
  PodsAndHealth known;
  for (const Entity& entity : sample.entities)
    for (const GpuPod& holder : gpu_pods_of(entity, attribution, settings))
      known.pods.push_back({.gpu = entity.gpu.uuid,
                            .instance = entity.instance,
                            .name_space = holder.pod_namespace,
                            .pod = holder.pod,
                            .container = holder.container});
  known.judged = true;
  for (const GpuState& state : sample.gpus)
    for (const Reason& reason : health.of(state.gpu.uuid))
      known.reasons.push_back({.gpu = state.gpu.uuid,
                               .level = level_of(reason.severity),
                               .text = text_of(reason),
                               .remedy = reason.remedy});
  return known;
}

}  // namespace slipway::dcgm
