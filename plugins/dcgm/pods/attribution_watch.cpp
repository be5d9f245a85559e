// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/attribution_watch.hpp"

#include "nvidia/kubelet/allocations.hpp"

namespace slipway::dcgm {
namespace {

/// While kubelet does not answer, its last answer stays valid for a while.
Result<GpuPods> ask_kubelet(nvidia::kubelet::AllocationReader& reader, const AttributionSettings& settings) {
  const nvidia::kubelet::Allocations found = reader.read();
  if (found.silent) return *found.silent;
  // Devices are matched by their UUIDs, which no other resource uses.
  if (settings.any_resource) return nvidia::kubelet::gpu_pods_of(found.all);
  return nvidia::kubelet::gpu_pods_of(found.all, settings.resource_names);
}

}  // namespace

Result<AttributionWatch> AttributionWatch::start(const Host& host, const AttributionSettings& settings,
                                                 std::chrono::milliseconds every) {
  AttributionWatch watch;
  if (settings.kubernetes)
    watch.pods_ = std::make_unique<KeptUpToDate<GpuPods>>(
        [reader = nvidia::kubelet::AllocationReader(host, settings.kubelet_socket), settings]() mutable {
          return ask_kubelet(reader, settings);
        },
        every, 3 * every);
  if (settings.job_folder.empty()) return watch;
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  watch.jobs_ = std::make_unique<KeptUpToDate<Jobs>>(
      [root, folder = settings.job_folder] { return read_jobs(root, folder); }, every, 3 * every);
  return watch;
}

void AttributionWatch::ask() {
  if (pods_) pods_->ask();
  if (jobs_) jobs_->ask();
}

void AttributionWatch::on_change(const std::function<void()>& news) {
  if (pods_) pods_->on_change(news);
  if (jobs_) jobs_->on_change(news);
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
