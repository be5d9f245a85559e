// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/snapshot.hpp"

#include <algorithm>
#include <array>

namespace slipway::deviceplugin {
namespace {

/// In this order in an answer.
constexpr std::array kControlNodes{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};

std::string imex_node(unsigned channel) { return "/dev/nvidia-caps-imex-channels/channel" + std::to_string(channel); }

/// Those that this machine has.
std::vector<std::string> control_nodes(const Host& host) {
  std::vector<std::string> nodes;
  for (const char* path : kControlNodes)
    if (host.info(path)) nodes.emplace_back(path);
  return nodes;
}

void add_imex(const Settings& settings, const Host& host, Snapshot& snapshot) {
  for (const unsigned channel : settings.imex_channels) {
    const std::string path = imex_node(channel);
    if (host.info(path))
      snapshot.extras.imex_channels.push_back(channel);
    else if (settings.imex_required)
      snapshot.problem = "IMEX channel " + std::to_string(channel) + " is required, and there is no " + path;
    else
      snapshot.notes.push_back("there is no " + path + ": containers get no IMEX channel");
  }
}

void offer(const Settings& settings, Snapshot& snapshot) {
  auto resources = make_resources(snapshot.gpus, settings, snapshot.notes);
  if (!resources)
    snapshot.problem = resources.error().what + " (" + resources.error().next + ")";
  else if (snapshot.problem.empty())
    snapshot.resources = std::move(*resources);
}

}  // namespace

Snapshot make_snapshot(const DriverWatch& watch, const Settings& settings, const Host& host,
                       const std::string& cdi_vendor) {
  Snapshot snapshot;
  snapshot.settings = settings;
  snapshot.driver_version = watch.driver_version();
  snapshot.gpus = watch.gpus();
  snapshot.nearness = watch.nearness();
  for (const Gpu& gpu : snapshot.gpus) {
    const Health health = watch.book().of(gpu.uuid);
    if (!health.healthy) snapshot.health[gpu.uuid] = health;
    for (const MigDevice& mig : gpu.mig_devices) {
      const std::string place = instance_key(gpu.uuid, mig.gpu_instance);
      if (const Health own = watch.book().of(place); health.healthy && !own.healthy) snapshot.health[place] = own;
    }
  }
  snapshot.extras.control_nodes = control_nodes(host);
  snapshot.extras.cdi_vendor = cdi_vendor;
  add_imex(settings, host, snapshot);
  if (const auto managers = nvidia::read_gpu_managers(host))
    apply_managers(*managers, snapshot.gpus);
  else
    snapshot.problem = managers.error().where + ": " + managers.error().what;
  offer(settings, snapshot);
  // GPUs that an earlier process saw are still listed, unhealthy, so that kubelet keeps the capacity.
  if (!watch.problem().empty()) snapshot.problem = watch.problem();
  return snapshot;
}

std::vector<std::string> snapshot_files(const Settings& settings) {
  std::vector<std::string> files{nvidia::kManagersFile};
  files.insert(files.end(), kControlNodes.begin(), kControlNodes.end());
  for (const unsigned channel : settings.imex_channels) files.push_back(imex_node(channel));
  return files;
}

std::string summary(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints) {
  std::size_t healthy = 0;
  for (const Gpu& gpu : snapshot.gpus) healthy += snapshot.health.contains(gpu.uuid) ? 0U : 1U;
  std::string line = std::to_string(healthy) + " of " + std::to_string(snapshot.gpus.size()) + " GPUs healthy";
  for (const auto& [name, endpoint] : endpoints)
    line += ", " + name + (endpoint.registered ? "" : " not") + " registered";
  if (!snapshot.yields.empty()) line += "; " + snapshot.yields;
  if (!snapshot.problem.empty()) line += "; " + snapshot.problem;
  return line;
}

std::vector<std::string> reasons(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints) {
  std::vector<std::string> lines;
  for (const Gpu& gpu : snapshot.gpus)
    if (const auto found = snapshot.health.find(gpu.uuid); found != snapshot.health.end())
      lines.push_back(gpu.label() + " is unhealthy: " + found->second.text + " (" + found->second.remedy + ")");
  for (const Gpu& gpu : snapshot.gpus)
    for (const MigDevice& mig : gpu.mig_devices)
      if (const auto found = snapshot.health.find(instance_key(gpu.uuid, mig.gpu_instance));
          found != snapshot.health.end())
        lines.push_back("MIG device " + std::to_string(mig.index) + " of " + gpu.label() +
                        " is unhealthy: " + found->second.text + " (" + found->second.remedy + ")");
  for (const auto& [name, why] : snapshot.unready) lines.push_back(name + " is not ready: " + why);
  for (const auto& [name, endpoint] : endpoints)
    if (!endpoint.problem.empty()) lines.push_back(name + ": " + endpoint.problem);
  const bool told = snapshot.problem.empty() || std::ranges::any_of(lines, [&](const std::string& line) {
                      return line.find(snapshot.problem) != std::string::npos;
                    });
  if (!told) lines.push_back(snapshot.problem);
  return lines;
}

}  // namespace slipway::deviceplugin
