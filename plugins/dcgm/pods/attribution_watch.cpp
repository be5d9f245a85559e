// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/attribution_watch.hpp"

#include <slipway/unix_socket.hpp>

namespace slipway::dcgm {
namespace {

Result<Holders> ask_kubelet(const Host& host, const AttributionSettings& settings) {
  SLIPWAY_TRY(end, connect_to(host, settings.kubelet_socket));
  SLIPWAY_TRY(answer, nvidia::kubelet::list_pods(end.get()));
  return nvidia::kubelet::holders_in(answer, settings.resource_names);
}

}  // namespace

Result<AttributionWatch> AttributionWatch::start(const Host& host, const AttributionSettings& settings,
                                                 std::chrono::milliseconds every) {
  AttributionWatch watch;
  if (settings.kubernetes)
    watch.pods_ = std::make_unique<KeptUpToDate<Holders>>([&host, settings] { return ask_kubelet(host, settings); },
                                                          every, 3 * every);
  if (settings.job_folder.empty()) return watch;
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  watch.jobs_ = std::make_unique<KeptUpToDate<Jobs>>(
      [root, folder = settings.job_folder] { return read_jobs(root, folder); }, every, 3 * every);
  return watch;
}

Attribution AttributionWatch::known() const {
  Attribution known;
  if (pods_) {
    auto pods = pods_->known();
    known.holders = std::move(pods.value);
    known.pods_problem = std::move(pods.problem);
  }
  if (jobs_) {
    auto jobs = jobs_->known();
    known.jobs = std::move(jobs.value);
    known.jobs_problem = std::move(jobs.problem);
  }
  return known;
}

}  // namespace slipway::dcgm
