// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/other_plugin.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/checkpoint.hpp"
#include "nvidia/kubelet/gpu_pods.hpp"
#include "nvidia/process/process_files.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kPluginsFact = "other_plugins";
constexpr const char* kUnitsFact = "other_plugin_units";
constexpr const char* kFinding = "deviceplugin.other-plugin";
constexpr const char* kPluginFolderInPods = "/var/lib/kubelet/device-plugins";  // NVIDIA's device plugin has no option
                                                                                // for it
constexpr const char* kBothGive = ": a pod of one may get a GPU that a pod of the other has";
constexpr const char* kOrYield = ", or leave the GPUs to it: other_plugin: yield";
constexpr std::size_t kMostSockets = 256;
constexpr std::size_t kMostMounts = std::size_t{1} << 20U;

const nvidia::OtherProgram& nvidias_plugin() {
  static const nvidia::OtherProgram kProgram{.file = "nvidia-device-plugin",
                                             .title = "NVIDIA's device plugin",
                                             .label = "nvidia.com/gpu.deploy.device-plugin",
                                             .operator_key = "devicePlugin.enabled"};
  return kProgram;
}

const std::vector<std::string>& known_units() {
  static const std::vector<std::string> kUnits{"nvidia-k8s-device-plugin.service", "nvidia-device-plugin.service"};
  return kUnits;
}

/// A folder as the kernel identifies it, independent of mount points.
struct Place {
  std::string file_system;  ///< its device number: "8:1"
  std::string path;         ///< in that file system
  bool operator==(const Place&) const = default;
};

/// Finds a path's place from the text of /proc/PID/mountinfo.
std::optional<Place> place_of(std::string_view mounts, const std::string& path) {
  std::optional<Place> place;
  std::size_t longest = 0;
  for (const MountLine& mount : parse_mounts(mounts)) {
    const std::string_view point = mount.place == "/" ? "" : mount.place;
    const std::string_view root = mount.root == "/" ? "" : mount.root;
    const bool holds = path == point || path.starts_with(std::string(point) + "/");
    if (!holds || point.size() < longest) continue;  // of two mounts at the same place the later one is visible
    longest = point.size();
    place = Place{std::string(mount.device), std::string(root) + path.substr(point.size())};
  }
  return place;
}

/// True when the process' device-plugins folder is kubelet's. A tenant can create a folder of that name, on its own
/// disk too, but not that one.
bool has_kubelets_folder(const Host& host, unsigned pid, const std::string& folder) {
  if (!nvidia::is_here(host, pid)) {
    const auto mounts_of = [&](const std::string& process) {
      return host.read("/proc/" + process + "/mountinfo", kMostMounts).value_or("");
    };
    const auto kubelets = place_of(mounts_of("1"), folder);
    return kubelets && place_of(mounts_of(std::to_string(pid)), kPluginFolderInPods) == kubelets;
  }
  const auto kubelets = nvidia::file_in_root(host, folder);
  const auto its = nvidia::file_in_root_of(pid, kPluginFolderInPods);
  return kubelets && its && kubelets->file_system == its->file_system && kubelets->inode == its->inode;
}

/// A socket in kubelet's folder at which another process listens.
struct Listening {
  std::string socket;  ///< its name in the folder
  unsigned pid = 0;    ///< 0: in a pid namespace that cannot be seen from here
};

std::optional<unsigned> listener_of(const Host& host, const std::string& socket) {
  const auto end = connect_to(host, socket);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!end || ::getsockopt(end->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid < 0) return std::nullopt;
  return static_cast<unsigned>(peer.pid);
}

/// slipway's own device plugin on this machine: recognized by its control socket, by its unit, to which only root can
/// add a process, or because it is this process.
class OwnService {
 public:
  explicit OwnService(const Host& host)
      : host_(host), control_(listener_of(host, std::string(kControlFolder) + "/deviceplugin.sock")) {}

  bool is(unsigned pid) const {
    if (pid == control_ || pid == static_cast<unsigned>(::getpid())) return true;  // 0: neither is visible from here
    return pid != 0 && (is_below_control(pid) || nvidia::read_process(host_, pid).owner.unit == kOwnUnit);
  }

 private:
  static constexpr const char* kOwnUnit = "slipway-deviceplugin.service";
  static constexpr int kMostAncestors = 8;

  /// The service is a child of the process with the control socket. The kernel reports both process ids.
  bool is_below_control(unsigned pid) const {
    for (int i = 0; control_ && i < kMostAncestors && pid > 1; ++i) {
      if (pid == control_) return true;
      const auto stat = nvidia::local_stat(pid);
      pid = stat ? stat->parent : 0;
    }
    return false;
  }

  const Host& host_;
  std::optional<unsigned> control_;
};

std::vector<Listening> other_listeners(const Host& host, const std::string& folder) {
  const OwnService service(host);
  std::vector<Listening> found;
  std::size_t seen = 0;
  for (const std::string& name : host.list(folder).value_or({})) {
    if (!name.ends_with(".sock") || name == "kubelet.sock" || ++seen > kMostSockets) continue;
    const auto pid = listener_of(host, folder + "/" + name);
    if (pid && !service.is(*pid)) found.push_back({name, *pid});
  }
  return found;
}

/// Returns "nvidia-gpu.shared.sock" for "nvidia.com/gpu.shared", as both plugins name their sockets.
std::string socket_of(const std::string& resource) {
  return "nvidia-" + resource.substr(resource.find('/') + 1) + ".sock";
}

bool is_gpu(const std::string& id) {
  const std::string key = nvidia::kubelet::parse_device_id(id).key;
  return key.starts_with("GPU-") || key.starts_with("MIG-");
}

/// Returns the GPU resources that kubelet has from other plugins, each with its number of devices.
std::map<std::string, std::size_t> other_resources(const Host& host, const std::string& kubelet_root,
                                                   const OwnPlugin& own) {
  std::map<std::string, std::size_t> found;
  const auto checkpoint = nvidia::kubelet::read_checkpoint(host, nvidia::kubelet::checkpoint_file(kubelet_root));
  if (!checkpoint) return found;
  for (const auto& [name, ids] : checkpoint->registered)
    if (!own.resources.contains(name) && std::ranges::any_of(ids, is_gpu)) found[name] = ids.size();
  return found;
}

std::string offers_text(const std::map<std::string, std::size_t>& resources) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : resources) texts.push_back(fmt::format("{} ({} devices)", name, count));
  return texts.empty() ? " offers GPUs of this machine as well" : " offers " + listed(texts, "and");
}

std::string capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

/// Returns the unit if an apply can stop it.
std::string unit_of(const nvidia::Process& process) {
  const bool is_known = process.owner.container.empty() && std::ranges::count(known_units(), process.owner.unit) != 0;
  return is_known ? process.owner.unit : std::string();
}

OtherPlugin nvidias(const nvidia::Process& process, const std::map<std::string, std::size_t>& resources) {
  return {nvidia::program_text(nvidias_plugin(), process) + offers_text(resources),
          nvidia::how_to_end_program(nvidias_plugin(), process), unit_of(process)};
}

OtherPlugin at_sockets(const Host& host, const std::vector<Listening>& sockets,
                       const std::map<std::string, std::size_t>& resources) {
  std::vector<std::string> names;
  for (const Listening& each : sockets) names.push_back(each.socket);
  const unsigned pid = sockets.front().pid;
  nvidia::Process process = pid == 0 ? nvidia::Process() : nvidia::read_process(host, pid);
  const bool is_slipways = process.name.starts_with("slipway");
  if (process.name.empty())
    process.name = "a device plugin";
  else if (!is_slipways)
    process.name = "the device plugin " + process.name;
  const std::string who = pid == 0 ? "a device plugin in a container that cannot be seen from here"
                                   : (is_slipways ? "another slipway device plugin, " : "") + to_text(process);
  return {fmt::format("{}, which listens at {},{}", who, listed(names, "and"), offers_text(resources)),
          pid == 0 ? "find the pod with `kubectl get pods -A -o wide` and remove that pod from the node"
                   : nvidia::how_to_end_program(nvidias_plugin(), process),
          unit_of(process)};
}

}  // namespace

std::vector<OtherPlugin> find_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own) {
  const std::string folder = kubelet_root + "/device-plugins";
  std::vector<Listening> sockets = other_listeners(host, folder);
  const auto resources = other_resources(host, kubelet_root, own);
  // Sockets of other processes in the folder may be for devices other than GPUs.
  std::set<std::string> gpu_sockets{socket_of("nvidia.com/gpu")};
  for (const std::string& name : own.resources) gpu_sockets.insert(socket_of(name));
  for (const auto& [name, count] : resources) gpu_sockets.insert(socket_of(name));
  std::erase_if(sockets, [&](const Listening& each) { return !gpu_sockets.contains(each.socket); });
  std::vector<OtherPlugin> found;
  std::set<unsigned> named;
  for (const nvidia::Process& process : nvidia::find_program(host, nvidias_plugin())) {
    const bool listens = std::ranges::count(sockets, process.pid, &Listening::pid) != 0;
    const bool is_plugin =
        nvidia::is_root(host, process.pid) &&
        (listens || nvidia::may_change_gpus(host, process.pid) || has_kubelets_folder(host, process.pid, folder));
    if (!is_plugin) continue;
    found.push_back(nvidias(process, resources));
    named.insert(process.pid);
  }
  std::erase_if(sockets, [&](const Listening& each) { return named.contains(each.pid); });
  if (!found.empty()) std::erase_if(sockets, [](const Listening& each) { return each.pid == 0; });  // perhaps the same
  std::map<unsigned, std::vector<Listening>> by_process;
  for (const Listening& each : sockets) by_process[each.pid].push_back(each);
  for (const auto& [pid, each] : by_process) found.push_back(at_sockets(host, each, resources));
  return found;
}

std::vector<OtherPluginUnit> other_plugin_units(const Host& host) {
  std::vector<OtherPluginUnit> units;
  const auto is_file = [&](const std::string& path) {
    const auto info = host.info(path);
    return info && info->type == FileInfo::Type::regular;
  };
  for (const std::string& name : known_units()) {
    const bool is_admins = is_file("/etc/systemd/system/" + name);
    if (is_admins || is_file("/usr/lib/systemd/system/" + name) || is_file("/lib/systemd/system/" + name))
      units.push_back({name, is_admins});
  }
  return units;
}

void add_other_plugin_units(const Host& host, Facts& facts) {
  Json units = Json::array();
  for (const OtherPluginUnit& each : other_plugin_units(host))
    units.push_back({{"name", each.name}, {"in_etc", each.in_etc}});
  facts.set(kUnitsFact, std::move(units));
}

void add_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own, Facts& facts) {
  Json list = Json::array();
  for (const OtherPlugin& each : find_other_plugins(host, kubelet_root, own))
    list.push_back({{"text", each.text}, {"remedy", each.remedy}, {"unit", each.unit}});
  if (!list.empty()) facts.set_volatile(kPluginsFact, std::move(list));
}

Status add_other_plugin(OtherPluginPolicy policy, const Facts& facts, Plan& plan) {
  const Json units = facts.value(kUnitsFact);
  const Json plugins = facts.value(kPluginsFact);
  for (const Json& each : plugins) {
    const std::string text = each.value("text", "");
    if (policy == OtherPluginPolicy::yield) {
      plan.note(text + ", and the GPUs are left to it: slipway offers none until it is gone (other_plugin: yield)");
    } else if (policy == OtherPluginPolicy::report) {
      plan.note(text + kBothGive + ". " + capitalized(each.value("remedy", "")) + kOrYield);
    } else if (each.value("unit", "").empty()) {
      return Error{.code = ErrorCode::conflict,
                   .what = text + ", but slipway cannot stop that plugin: it is not a systemd unit of this machine",
                   .where = "spec.components.deviceplugin.other_plugin = take-over",
                   .next = each.value("remedy", "") + kOrYield};
    }
  }
  if (policy != OtherPluginPolicy::take_over || !units.is_array()) return {};
  constexpr const char* kBecause = "slipway offers the GPUs in its place; `slipway remove deviceplugin` restores it";
  for (const Json& unit : units) {
    const std::string name = unit.value("name", "");
    plan
        .add(Action(
            {{"kind", "systemd-unit"}, {"target", name}, {"enabled", false}, {"started", false}, {"stopped", true}}))
        .because(kBecause);
    if (!unit.value("in_etc", false))
      plan.add(action::symlink("/etc/systemd/system/" + name, "/dev/null")).because(kBecause);
  }
  return {};
}

void add_other_plugin_findings(const Host& host, const std::string& kubelet_root, const OwnPlugin& own,
                               OtherPluginPolicy policy, Findings& findings) {
  for (const OtherPlugin& each : find_other_plugins(host, kubelet_root, own)) {
    if (policy == OtherPluginPolicy::yield)
      findings.not_exercised(kFinding, each.text + ", and the GPUs are left to it");
    else
      findings.warning(kFinding, each.text + kBothGive, each.remedy + kOrYield);
  }
}

}  // namespace slipway::deviceplugin
