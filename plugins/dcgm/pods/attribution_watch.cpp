// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/attribution_watch.hpp"

#include <slipway/unix_socket.hpp>

#include "nvidia/drain/process.hpp"

namespace slipway::dcgm {
namespace {

constexpr const char* kPodLogs = "/var/log/pods";

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

std::map<std::string, std::string, std::less<>> pods_by_uid(const std::vector<std::string>& names) {
  std::map<std::string, std::string, std::less<>> pods;
  for (const std::string& name : names) {
    const std::size_t first = name.find('_');
    const std::size_t last = name.rfind('_');
    if (first == std::string::npos || last <= first) continue;
    pods.emplace(name.substr(last + 1), name.substr(0, first) + "/" + name.substr(first + 1, last - first - 1));
  }
  return pods;
}

void find_pods_of_processes(const Host& host, std::vector<Entity>& entities) {
  constexpr std::size_t kMostBytes = 16 << 10;
  const auto pods = pods_by_uid(host.list(kPodLogs).value_or({}));
  for (Entity& entity : entities) {
    if (pods.empty()) entity.processes.reset();  // nobody says which pods there are
    if (!entity.processes) continue;
    for (ProcessUse& process : *entity.processes) {
      const auto text = host.read("/proc/" + std::to_string(process.pid) + "/cgroup", kMostBytes);
      const auto pod = text ? pods.find(nvidia::drain::owner_of(*text).pod_uid) : pods.end();
      if (pod != pods.end()) process.pod = pod->second;
    }
  }
}

}  // namespace slipway::dcgm
