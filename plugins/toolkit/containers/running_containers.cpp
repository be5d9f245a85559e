// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/running_containers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMostConfig = std::size_t{4} << 20U;  // an OCI configuration takes some ten KiB
constexpr std::size_t kMostCgroups = 16384;
/// State folders of containerd.
constexpr std::array kContainerds{"/run/containerd", "/run/k3s/containerd", "/run/k0s/containerd",
                                  "/var/snap/microk8s/common/run/containerd", "/run/docker/containerd/daemon"};
constexpr const char* kTasks = "/io.containerd.runtime.v2.task";
/// State folders of runc and crun for podman, CRI-O, Docker's older versions, and for manual use.
constexpr std::array kRunc{"/run/runc", "/run/docker/runtime-runc/moby"};
constexpr const char* kCrun = "/run/crun";
constexpr const char* kUsers = "/run/user";
constexpr std::size_t kMostBytesOfMounts = std::size_t{4} << 20U;

std::optional<unsigned> pid_in(std::string_view text) {
  text = trimmed(text);
  unsigned pid = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return problem == std::errc{} && end == text.data() + text.size() && pid > 0 ? std::optional(pid) : std::nullopt;
}

std::string text_of_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<unsigned> pid_of_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > 0x7fffffffU)
    return std::nullopt;
  return found->get<unsigned>();
}

class Search {
 public:
  explicit Search(const Host& host) : host_(host) {}

  void look_at_tasks(const std::string& folder) {
    for (const std::string& name : names_in(folder))
      for (const std::string& id : names_in(folder + "/" + name)) {
        const std::string bundle = folder + "/" + name + "/" + id;
        const auto pid = pid_in(host_.read(bundle + "/init.pid", 64).value_or(""));
        const std::string shim = host_.read(bundle + "/shim-binary-path", 4096).value_or("");
        if (pid && (shim.empty() || is_of_runc(shim)))
          add(id, *pid, bundle);
        else if (!is_of_runc(shim) && found_.elsewhere < kMostContainers && has_gpus(bundle, id))
          ++found_.elsewhere;  // a shim of runc without a process is about to start its container
      }
  }

  /// @param file  name of the runtime's state file; @param pid  its member; @param bundle  finds the bundle in it
  void look_at_states(const std::string& folder, const std::string& file, const char* pid,
                      const std::function<std::string(const Json& state)>& bundle) {
    for (const std::string& id : names_in(folder)) {
      const auto text = host_.read(folder + "/" + id + "/" + file, kMostConfig);
      const Json state = text ? parse_foreign(*text) : Json();
      if (!state.is_object()) continue;
      if (const auto number = pid_of_member(state, pid); number && *number > 0) add(id, *number, bundle(state));
    }
  }

  /// Counts containers of users without root. The users write these files, so only the number is used.
  void count_rootless() {
    for (const std::string& user : names_in(kUsers))
      for (const auto& [folder, file, pid] :
           {std::array{"/crun", "/status", "pid"}, std::array{"/runc", "/state.json", "init_process_pid"}}) {
        const std::string states = std::string(kUsers) + "/" + user + folder;
        for (const std::string& id : host_.list(states).value_or(std::vector<std::string>())) {
          if (++seen_rootless_ > kMostContainers) return;
          const auto text = host_.read(states + "/" + id + file, kMostConfig);
          const Json state = text ? parse_foreign(*text) : Json();
          if (const auto number = state.is_object() ? pid_of_member(state, pid) : std::nullopt)
            if (has_mounted_nodes(*number)) ++found_.rootless;
        }
      }
  }

  RunningContainers take() { return std::move(found_); }

 private:
  /// Recognizes shims of virtual machines and other kernels by their names; older containerds do not record the shim.
  static bool is_of_runc(const std::string& shim) { return shim.find("/containerd-shim-runc-") != std::string::npos; }

  bool has_gpus(const std::string& bundle, const std::string& id) const {
    const auto text = host_.read(bundle + "/config.json", kMostConfig);
    const Json config = text ? parse_foreign(*text) : Json();
    return config.is_object() && gpus_of_container(config, id).has_value();
  }

  /// Without the right to create nodes, the host's nodes are mounted.
  bool has_mounted_nodes(unsigned pid) const {
    const std::string mounts =
        host_.read("/proc/" + std::to_string(pid) + "/mountinfo", kMostBytesOfMounts).value_or("");
    return std::ranges::any_of(parse_mounts(mounts),
                               [](const MountLine& mount) { return is_nvidia_node(mount.place); });
  }

  std::vector<std::string> names_in(const std::string& folder) {
    auto names = host_.list(folder);
    if (!names && names.error().code == ErrorCode::denied) found_.denied = true;
    return names ? *std::move(names) : std::vector<std::string>();
  }

  void add(const std::string& id, unsigned pid, const std::string& bundle) {
    if (bundle.empty() || seen_.count(id) != 0) return;
    if (seen_.size() == kMostContainers) {
      found_.cut = true;
      return;
    }
    auto cgroups = host_.read("/proc/" + std::to_string(pid) + "/cgroup", kMostCgroups);
    if (!cgroups) return;  // it has ended
    // Another process, of another container or none, may have taken the number since.
    const std::string owner = nvidia::owner_of(*cgroups).container;
    if (id.size() == 64 && !owner.empty() && owner != id) return;
    seen_.insert(id);
    const auto text = host_.read(bundle + "/config.json", kMostConfig);
    if (!text) {
      ++found_.unreadable;
      return;
    }
    if (text->find("nvidia") == std::string::npos && text->find("NVIDIA") == std::string::npos) return;
    const Json config = parse_foreign(*text);
    if (!config.is_object()) {
      ++found_.unreadable;
      return;
    }
    if (auto given = gpus_of_container(config, id))
      found_.with_gpus.push_back({id, pid, *std::move(given), *std::move(cgroups)});
  }

  const Host& host_;
  std::set<std::string> seen_;
  std::size_t seen_rootless_ = 0;
  RunningContainers found_;
};

std::string bundle_of_runc(const Json& state) {
  const auto config = state.find("config");
  if (config == state.end() || !config->is_object()) return {};
  const auto labels = config->find("labels");
  if (labels == config->end() || !labels->is_array()) return {};
  for (const Json& label : *labels)
    if (label.is_string() && label.get_ref<const std::string&>().starts_with("bundle=/"))
      return label.get_ref<const std::string&>().substr(std::string_view("bundle=").size());
  return {};
}

}  // namespace

RunningContainers running_containers(const Host& host) {
  Search search(host);
  for (const char* folder : kContainerds) search.look_at_tasks(std::string(folder) + kTasks);
  for (const char* folder : kRunc) search.look_at_states(folder, "state.json", "init_process_pid", bundle_of_runc);
  search.look_at_states(kCrun, "status", "pid", [](const Json& state) { return text_of_member(state, "bundle"); });
  search.count_rootless();
  return search.take();
}

}  // namespace slipway::toolkit
