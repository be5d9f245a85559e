// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/loss.hpp"

#include <algorithm>
#include <optional>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>

#include "nvidia/driver_version.hpp"
#include "nvidia/loaded_driver.hpp"
#include "nvidia/proc_files.hpp"
#include "nvidia/process/process.hpp"
#include "toolkit/containers/scope.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMostMounts = std::size_t{4} << 20U;
constexpr const char* kGpus = "/proc/driver/nvidia/gpus";
constexpr const char* kControl = "/dev/nvidiactl";
constexpr const char* kDriverContainer = "/run/nvidia/driver";

/// The path of a version 2 group, or of the group of the controller `devices`; empty if the process is in neither.
struct Group {
  std::string path;
  bool has_list = false;
};

Group group_in(std::string_view cgroups) {
  Group group;
  for (const std::string_view line : lines_of<std::string_view>(cgroups)) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto controllers = split<std::string_view>(line.substr(first + 1, second - first - 1), ',');
    const std::string path(line.substr(second + 1));
    if (std::ranges::find(controllers, "devices") != controllers.end()) return {path, true};
    if (line.starts_with("0::")) group = {path, false};
  }
  return group;
}

/// Returns the rules in effect; empty if they cannot be read.
std::optional<DeviceRules> rules_of(const Group& group, const Host& host, const ContainerKernel& kernel) {
  constexpr std::size_t kMostRules = std::size_t{1} << 20U;
  if (group.path.empty() || group.path.find("/..") != std::string::npos) return std::nullopt;
  DeviceRules rules;
  if (group.has_list) {
    auto list = host.read("/sys/fs/cgroup/devices" + group.path + "/devices.list", kMostRules);
    if (!list) return std::nullopt;
    rules.list = *std::move(list);
    return rules;
  }
  auto programs = kernel.programs(group.path);
  if (!programs) return std::nullopt;
  rules.programs = *std::move(programs);
  return rules;
}

/// False for a GPU that the driver no longer lists, that is no longer on the bus, or whose configuration space reads as
/// ones.
bool answers(const Host& host, unsigned gpu_minor) {
  const auto addresses = host.list(kGpus);
  if (!addresses) return false;
  for (const std::string& address : *addresses) {
    const auto minor = nvidia::parse_gpu_minor(host.attribute(std::string(kGpus) + "/" + address + "/information"));
    if (minor != gpu_minor) continue;
    const std::string device = "/sys/bus/pci/devices/" + address;
    if (!host.exists(device)) return false;
    return host.read_part(device + "/config", 0, 2).value_or("") != "\xff\xff";  // the vendor
  }
  return false;
}

/// Returns "535.261.03" in the name of the driver's libraries; empty: not one of them.
std::string version_in(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view library : {"libcuda.so.", "libnvidia-ml.so."}) {
    if (!name.starts_with(library)) continue;
    const std::string_view version = name.substr(library.size());
    if (version.find('.') != std::string_view::npos && nvidia::DriverVersion::parse(version))
      return std::string(version);
  }
  return {};
}

/// Returns the version of a driver library that is mounted into the container.
std::string mounted_version(std::string_view mounts) {
  for (const MountLine& mount : parse_mounts(mounts)) {
    for (std::string_view path : {mount.root, mount.place}) {  // path on its own file system, and in the container
      if (constexpr std::string_view kDeleted = "//deleted"; path.ends_with(kDeleted))
        path.remove_suffix(kDeleted.size());
      if (std::string version = version_in(path); !version.empty()) return version;
    }
  }
  return {};
}

class LossSearch {
 public:
  LossSearch(const RunningContainer& container, const Host& host, const ContainerKernel& kernel)
      : container_(container),
        host_(host),
        kernel_(kernel),
        driver_(nvidia::read_loaded_driver(host)),
        group_(group_in(container.cgroups)),
        scope_(scope_of(group_.path)),
        mounts_(host.read("/proc/" + std::to_string(container.pid) + "/mountinfo", kMostMounts).value_or("")) {}

  Losses losses() {
    if (container_.given.unanswered()) {
      add(LossCause::never_given, container_.given.request);
      return std::move(losses_);
    }
    if (!driver_) {
      const std::vector<ContainerNode> nodes = nodes_of_container();
      add(LossCause::driver_gone, nodes.empty() ? container_.given.request : nodes.front().path);
      return std::move(losses_);
    }
    std::vector<ContainerNode> nodes = nodes_of_container();
    std::stable_partition(nodes.begin(), nodes.end(), [](const ContainerNode& node) { return is_gpu_node(node.path); });
    for (const ContainerNode& node : nodes) look_at(node);
    if (nodes.empty() && place_of(kControl).kind == Place::Kind::missing) add(LossCause::node_gone, kControl);
    if (const std::string version = mounted_version(mounts_); !version.empty() && version != driver_->version)
      add(LossCause::other_driver, "libraries of " + version + ", driver " + driver_->version);
    return std::move(losses_);
  }

 private:
  void add(LossCause cause, const std::string& what, bool later = false, const std::string& device = {}) {
    const auto same = [&](const Loss& loss) { return loss.cause == cause && loss.later == later; };
    if (std::ranges::none_of(losses_.list, same))
      losses_.list.push_back({cause, later, container_.given.name, what, scope_, device});
  }

  Place place_of(const std::string& path) const { return kernel_.place(container_.pid, mounts_, path); }

  /// Returns the host's node for it. A GPU's node is found by its minor, since containers may rename it.
  std::string host_node_of(const ContainerNode& node) const {
    const bool is_elsewhere = !host_.exists(kControl) && host_.exists(std::string(kDriverContainer) + kControl);
    const std::string path =
        is_gpu_node(node.path) && !node.mounted ? "/dev/nvidia" + std::to_string(node.number.minor) : node.path;
    return is_elsewhere ? kDriverContainer + path : path;
  }

  /// Returns the nodes of the configuration; for a container of NVIDIA's hook, the host's nodes that it has.
  std::vector<ContainerNode> nodes_of_container() const {
    if (!container_.given.nodes.empty() || !container_.given.legacy_hook) return container_.given.nodes;
    std::vector<ContainerNode> nodes;
    const auto names = host_.list("/dev");
    if (!names) return nodes;
    for (const std::string& name : *names)
      if (const std::string path = "/dev/" + name; is_nvidia_node(path))
        if (const Place place = place_of(path); place.kind == Place::Kind::device)
          nodes.push_back({.path = path, .number = place.number, .mounted = false, .allowed = false});
    if (std::ranges::none_of(nodes, [](const ContainerNode& node) { return is_gpu_node(node.path); })) nodes.clear();
    return nodes;
  }

  void look_at(const ContainerNode& node) {
    const std::string text = nvidia::cleaned(node.path, 128);
    const auto on_host = host_.info(host_node_of(node));
    const bool is_gpu = is_gpu_node(node.path);
    if (is_gpu && !answers(host_, node.mounted && on_host ? on_host->device_minor : node.number.minor))
      return add(LossCause::gpu_lost, text);
    if (!on_host || on_host->type != FileInfo::Type::character_device) return add(LossCause::host_node_gone, text);
    const DeviceNumber number{on_host->device_major, on_host->device_minor};
    const Place place = place_of(node.path);
    if (place.kind == Place::Kind::missing || place.kind == Place::Kind::other) return add(LossCause::node_gone, text);
    const DeviceNumber has = place.kind == Place::Kind::device ? place.number : node.mounted ? number : node.number;
    if (has != number)
      return add(LossCause::renumbered,
                 text + " is " + to_text(has) + " in the container and " + to_text(number) + " on the host");
    look_at_rules(node, text + " (" + to_text(number) + ")", number);
  }

  void look_at_rules(const ContainerNode& node, const std::string& text, DeviceNumber number) {
    if (!rules_read_) rules_ = rules_of(group_, host_, kernel_);
    if (!rules_read_ && !scope_.empty()) permitted_ = read_scope(host_, scope_);
    rules_read_ = true;
    const auto allowed = rules_ ? rules_->allow(number) : std::nullopt;
    if (!allowed) losses_.rules_unread = true;
    if (!allowed) return;
    const std::string device = "/dev/char/" + to_text(number);
    const bool scope_refuses = permitted_.known && !permitted_.allow(number, host_);
    if (*allowed) {  // systemd has not yet replaced these rules by its own list
      if (scope_refuses) add(cause_of(node, scope_refuses), text, true, device);
      return;
    }
    add(cause_of(node, scope_refuses), text, false, device);
  }

  LossCause cause_of(const ContainerNode& node, bool scope_refuses) const {
    if (node.mounted) return LossCause::only_mounted;
    if (!node.allowed) return LossCause::legacy_hook;
    return scope_refuses ? LossCause::scope_without : LossCause::rules_rewritten;
  }

  const RunningContainer& container_;
  const Host& host_;
  const ContainerKernel& kernel_;
  std::optional<nvidia::LoadedDriver> driver_;
  Group group_;
  std::string scope_;
  std::string mounts_;
  std::optional<DeviceRules> rules_;
  ScopeDevices permitted_;
  bool rules_read_ = false;
  Losses losses_;
};

}  // namespace

Losses losses_of(const RunningContainer& container, const Host& host, const ContainerKernel& kernel) {
  return LossSearch(container, host, kernel).losses();
}

}  // namespace slipway::toolkit
