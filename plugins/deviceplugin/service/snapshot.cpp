// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/snapshot.hpp"

#include <algorithm>
#include <array>

#include <slipway/text.hpp>

namespace slipway::deviceplugin {
namespace {

/// The order of the nodes in an answer.
constexpr std::array kControlNodes{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};

std::string imex_node(unsigned channel) { return "/dev/nvidia-caps-imex-channels/channel" + std::to_string(channel); }

/// Returns the folders whose dev/ may have the nodes: the config's folder; without one, the driver's, then the root.
std::vector<std::string> dev_roots(const Settings& settings, const std::string& driver_root) {
  const std::string named = settings.host_dev_root();
  if (named != "/" || driver_root == "/") return {named};
  return {driver_root, named};
}

/// Returns the first folder that has nodes, else the last.
std::string dev_root_of(const Settings& settings, const std::string& driver_root, const Host& host) {
  const std::vector<std::string> roots = dev_roots(settings, driver_root);
  return host.info(roots.front() + kControlNodes.front()) ? roots.front() : roots.back();
}

std::string in_root(const std::string& root, const std::string& node) { return (root == "/" ? "" : root) + node; }

/// Returns the control nodes that exist.
std::vector<std::string> control_nodes(const Settings& settings, const Host& host) {
  std::vector<std::string> nodes;
  for (const char* path : kControlNodes)
    if (host.info(in_root(settings.host_dev_root(), path))) nodes.emplace_back(path);
  return nodes;
}

void add_imex(const Settings& settings, const Host& host, Snapshot& snapshot) {
  for (const unsigned channel : settings.imex_channels) {
    const std::string path = in_root(settings.host_dev_root(), imex_node(channel));
    if (host.info(path))
      snapshot.extras.imex_channels.push_back(channel);
    else if (settings.imex_required)
      snapshot.problem = "IMEX channel " + std::to_string(channel) + " is required, but there is no " + path;
    else
      snapshot.notes.push_back("there is no " + path + ": containers get no IMEX channel");
  }
}

void offer(const std::vector<AbsentGpu>& absent, Snapshot& snapshot) {
  Remarks remarks;
  auto resources = make_resources(snapshot.gpus, snapshot.settings, remarks, absent);
  snapshot.notes.insert(snapshot.notes.end(), remarks.notes.begin(), remarks.notes.end());
  for (const AbsentGpu& each : absent) snapshot.notes.push_back(absent_text(each));
  if (!resources) {
    snapshot.problem = resources.error().what + " (" + resources.error().next + ")";
    return;
  }
  if (!snapshot.problem.empty()) return;
  snapshot.resources = std::move(*resources);
  snapshot.problem =
      joined(remarks.missing, "; ", [](const Missing& each) { return each.what + " (" + each.next + ")"; });
}

}  // namespace

std::string absent_text(const AbsentGpu& gpu) {
  return gpu.label() + " exists, but the driver does not show it, so it is not offered";
}

std::string repartitioned_text(const Gpu& gpu) {
  return "another program has changed the MIG layout of " + gpu.label() +
         " (`slipway apply` restores that of the spec)";
}

Snapshot make_snapshot(const DriverWatch& watch, const Settings& settings, const Host& host, const SnapshotKeys& keys) {
  Snapshot snapshot;
  snapshot.settings = settings;
  snapshot.settings.dev_root = dev_root_of(settings, keys.driver_root, host);
  if (!settings.fallback.empty()) snapshot.notes.push_back(settings.fallback);
  snapshot.driver_version = watch.driver_version();
  snapshot.gpus = watch.gpus();
  snapshot.absent = watch.absent();
  if (keys.has_mig) snapshot.repartitioned = watch.repartitioned();
  snapshot.nearness = watch.nearness();
  for (const Gpu& gpu : snapshot.gpus) {
    const auto health_of = [&](const std::string& place) {
      Health health = watch.book().of(place);
      health.remedy = nvidia::health::remedy_for(health.remedy, gpu.address);
      return health;
    };
    const Health health = health_of(gpu.uuid);
    if (!health.healthy) snapshot.health[gpu.uuid] = health;
    for (const MigDevice& mig : gpu.mig_devices) {
      const std::string place = instance_key(gpu.uuid, mig.gpu_instance);
      if (const Health own = health_of(place); health.healthy && !own.healthy) snapshot.health[place] = own;
    }
  }
  snapshot.extras.control_nodes = control_nodes(snapshot.settings, host);
  snapshot.extras.cdi_vendor = keys.cdi_vendor;
  add_imex(snapshot.settings, host, snapshot);
  if (const auto managers = nvidia::read_gpu_managers(host))
    apply_managers(*managers, snapshot.gpus);
  else
    snapshot.problem = managers.error().where + ": " + managers.error().what;
  offer(watch.absent(), snapshot);
  // GPUs that an earlier process saw stay in the list, unhealthy, so that kubelet keeps the capacity.
  if (!watch.problem().empty()) snapshot.problem = watch.problem();
  return snapshot;
}

std::vector<std::string> snapshot_files(const Settings& settings, const SnapshotKeys& keys) {
  std::vector<std::string> files{nvidia::kManagersFile};
  for (const std::string& root : dev_roots(settings, keys.driver_root)) {
    for (const char* node : kControlNodes) files.push_back(in_root(root, node));
    for (const unsigned channel : settings.imex_channels) files.push_back(in_root(root, imex_node(channel)));
  }
  return files;
}

std::string summary(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints) {
  std::size_t healthy = 0;
  for (const Gpu& gpu : snapshot.gpus) healthy += snapshot.health.contains(gpu.uuid) ? 0U : 1U;
  const std::size_t all = snapshot.gpus.size() + snapshot.absent.size();
  std::string line = std::to_string(healthy) + " of " + std::to_string(all) + " GPUs healthy";
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
  for (const AbsentGpu& each : snapshot.absent) lines.push_back(absent_text(each));
  for (const Gpu& gpu : snapshot.repartitioned) lines.push_back(repartitioned_text(gpu));
  for (const auto& [name, why] : snapshot.unready) lines.push_back(name + " is not ready: " + why);
  for (const auto& [name, endpoint] : endpoints)
    if (!endpoint.problem.empty())
      lines.push_back(name + ": " + endpoint.problem);
    else if (!endpoint.registered && endpoint.registrations > 0 && !endpoint.waits_for.empty())
      lines.push_back(name + " was registered, but is no longer: " + endpoint.waits_for);
  const bool told = snapshot.problem.empty() || std::ranges::any_of(lines, [&](const std::string& line) {
                      return line.find(snapshot.problem) != std::string::npos;
                    });
  if (!told) lines.push_back(snapshot.problem);
  return lines;
}

}  // namespace slipway::deviceplugin
