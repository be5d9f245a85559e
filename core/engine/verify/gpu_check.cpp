// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/gpu_check.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/engine/advice.hpp"
#include "core/engine/verify/causes.hpp"

namespace slipway::core {
namespace {

/// The components with a plugin: those without a service first. Components with a service may wait for other programs.
std::vector<std::string> in_order(const Session& session, const HostSpec& spec) {
  std::vector<std::string> names;
  for (const auto& [name, section] : spec.components)
    if (session.plugins().manifest(name) != nullptr) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return !has_service(*session.plugins().manifest(name), spec.components.at(name));
  });
  return names;
}

bool is_about_a_gpu(const Finding& finding) {
  const bool is_wrong = finding.status == Finding::Status::fail || finding.status == Finding::Status::warning;
  return is_wrong && finding.cause.starts_with(kGpuCause);
}

}  // namespace

std::map<std::string, Findings> check_gpus(Session& session, const HostSpec& spec, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit;
  std::map<std::string, Findings> all;
  for (const std::string& name : in_order(session, spec))
    for (const char* operation : {"verify", "diagnose"}) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      if (left <= std::chrono::milliseconds(0)) return all;
      const Json request{{"spec", spec.components.at(name)}, {"host", to_json(session.host_config())}};
      const auto reply = session.call(name, operation, request, left);
      if (!reply && reply.error().code == ErrorCode::timed_out)
        all[name].add({Finding::Status::warning, name,
                       name + " did not answer within " + std::to_string(limit.count() / 1000) +
                           " seconds: the driver or a GPU may hang",
                       advised("`slipway doctor` waits longer and tells which of them", session.options()), kGpuCause});
      const auto found = reply ? findings_from_json(*reply) : Result<Findings>(reply.error());
      if (!found) break;
      const Findings all_found = advised_by_plugin(*found, session);
      for (const Finding& finding : all_found.list())
        if (is_about_a_gpu(finding)) all[name].add(finding);
    }
  return all;
}

}  // namespace slipway::core
