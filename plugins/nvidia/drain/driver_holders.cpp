// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "nvidia/drain/holders.hpp"
#include "nvidia/drain/pods.hpp"
#include "nvidia/loaded_driver.hpp"
#include "nvidia/proc_files.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr const char* kDriver = "the driver";

/// The nodes of the driver and of the modules that need it: those that the kernel's numbers name, and those in /dev.
class DriverNodes {
 public:
  explicit DriverNodes(const Host& host) : host_(host) {
    gpus_ = host.character_major("nvidia");
    if (!gpus_) gpus_ = host.character_major("nvidia-frontend");  // before R545
    for (const unsigned minor : read_gpu_minors(host)) add(fmt::format("/dev/nvidia{}", minor), gpus_, minor);
    add("/dev/nvidiactl", gpus_, kControlMinor);
    add("/dev/nvidia-modeset", gpus_, kModesetMinor);
    const auto uvm = host.character_major("nvidia-uvm");
    add("/dev/nvidia-uvm", uvm, 0);
    add("/dev/nvidia-uvm-tools", uvm, 1);
    for (const char* folder : {"/dev", "/dev/nvidia-caps", "/dev/nvidia-caps-imex-channels"}) add_folder(folder);
  }
  const DeviceNodes& all() const { return nodes_; }

 private:
  void add(const std::string& path, std::optional<unsigned> major, unsigned minor) {
    if (major) nodes_.emplace(path.substr(path.rfind('/') + 1), DeviceNode{path, DeviceNumber{*major, minor}});
  }
  void add_folder(const std::string& folder) {
    const auto names = host_.list(folder).value_or(std::vector<std::string>());
    for (const std::string& name : names) {
      if (folder == "/dev" && !name.starts_with("nvidia") && name != "gdrdrv") continue;
      const auto info = host_.info(folder + "/" + name);
      if (!info || info->type != FileInfo::Type::character_device) continue;
      nodes_.emplace(name, DeviceNode{folder + "/" + name, DeviceNumber{info->device_major, info->device_minor}});
    }
  }

  const Host& host_;
  std::optional<unsigned> gpus_;
  DeviceNodes nodes_;
};

/// The nodes that every program has open say less than a GPU's.
bool says_more(const std::string& node, const std::string& other) {
  const auto is_of_a_gpu = [](const std::string& path) {
    return path.starts_with("/dev/nvidia") && path.back() >= '0' && path.back() <= '9';
  };
  return is_of_a_gpu(node) && !is_of_a_gpu(other);
}

std::vector<DeviceHolder> processes_of(const Host& host, const OpenFileLimits& limits) {
  const DriverNodes nodes(host);
  const OwnProcesses own(host);
  std::map<unsigned, std::string> open;
  const auto unseen = find_open_files(host, nodes.all(), limits, [&](unsigned pid, const std::string& name) {
    if (own.contains(pid)) return;
    const std::string& path = nodes.all().at(name).path;
    const auto at = open.emplace(pid, path).first;
    if (says_more(path, at->second)) at->second = path;
  });
  std::vector<DeviceHolder> holders;
  for (const auto& [pid, path] : open)
    holders.push_back({.process = read_process(host, pid), .holds = path, .only_open = true});
  for (const UnseenFiles& each : unseen) {
    const std::string most = to_text(read_process(host, each.most));
    holders.push_back({.process = {},
                       .holds = kDriver,
                       .kind = DeviceHolder::Kind::unseen,
                       .problem = fmt::format("the search stops after {} open files of one user and {} in all, before "
                                              "the last ones of the user {}; {} has the most",
                                              limits.of_user, limits.in_all, each.uid, most),
                       .next = "stop the process with so many open files: " + most});
  }
  return holders;
}

/// True when a process of that container is among the holders.
bool has_process(const std::vector<DeviceHolder>& holders, const kubelet::GpuPod& pod) {
  const std::string name = pod_text(pod.pod_namespace, pod.pod);
  const std::string container = cleaned(pod.container);
  return std::ranges::any_of(holders, [&](const DeviceHolder& each) {
    return each.process.pod == name && (each.process.pod_container.empty() || each.process.pod_container == container);
  });
}

}  // namespace

std::vector<DeviceHolder> find_driver_holders(const Host& host, const PodHolders& given, const OpenFileLimits& limits) {
  std::vector<DeviceHolder> holders = processes_of(host, limits);
  if (!given.problem.empty())
    holders.push_back(unknown_pod({.device = nullptr, .text = kDriver, .whole = true, .parts = {}}, given));
  for (const auto& [device, pods] : given.holders)
    for (const kubelet::GpuPod& pod : pods)
      if (!has_process(holders, pod)) add_pod(holders, pod, device);
  return holders;
}

void erase_units(const Host& host, const std::vector<std::string>& units, std::vector<DeviceHolder>& holders) {
  std::erase_if(holders, [&](const DeviceHolder& holder) {
    return host.live() && std::ranges::count(units, holder.process.owner.unit) != 0;
  });
}

}  // namespace slipway::nvidia::drain
