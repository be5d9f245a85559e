// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/allocations.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <unistd.h>

namespace slipway::nvidia::kubelet {
namespace {

using PodName = std::pair<std::string, std::string>;  // namespace and name
using Triple = std::tuple<std::string, std::string, std::string>;

class Merge {
 public:
  Merge(const std::vector<ListedPod>* listed, PodTraces& traces) : answers_(listed != nullptr), traces_(traces) {
    if (listed != nullptr)
      for (const ListedPod& pod : *listed) add_listed(pod);
  }

  void add(const CheckpointEntry& entry) {
    const PodFolder* const pod = traces_.name_of(entry.pod_uid);
    for (const std::string& id : entry.ids) {
      if (Allocation* const same = listed_allocation(entry, id, pod)) {
        same->mps = entry.mps;
        continue;
      }
      Allocation allocation{.pod_namespace = pod == nullptr ? "" : pod->pod_namespace,
                            .pod = pod == nullptr ? entry.pod_uid : pod->name,
                            .container = entry.container,
                            .resource = entry.resource,
                            .id = id,
                            .from_checkpoint = true,
                            .mps = entry.mps};
      if (holds(entry, pod, allocation)) all_.push_back(std::move(allocation));
    }
  }

  std::vector<Allocation> take() {
    leave_one_of_each_pod();
    std::ranges::sort(all_);
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
    return std::move(all_);
  }

 private:
  void add_listed(const ListedPod& pod) {
    std::set<std::string>& containers = listed_[{pod.pod_namespace, pod.name}];
    for (const ListedPod::Container& container : pod.containers) {
      containers.insert(container.name);
      for (const ListedPod::Device& device : container.devices) {
        listed_at_[{container.name, device.resource, device.id}].push_back(all_.size());
        all_.push_back({.pod_namespace = pod.pod_namespace,
                        .pod = pod.name,
                        .container = container.name,
                        .resource = device.resource,
                        .id = device.id});
      }
    }
    from_api_server_ = from_api_server_ || traces_.is_of_api_server(pod.pod_namespace, pod.name);
  }

  /// If the pod has no name, returns any container of that name that kubelet lists with the device.
  Allocation* listed_allocation(const CheckpointEntry& entry, const std::string& id, const PodFolder* pod) {
    const auto places = listed_at_.find({entry.container, entry.resource, id});
    if (places == listed_at_.end()) return nullptr;
    const auto found = std::ranges::find_if(places->second, [&](std::size_t place) {
      const Allocation& each = all_[place];
      return pod == nullptr || (each.pod_namespace == pod->pod_namespace && each.pod == pod->name);
    });
    return found == places->second.end() ? nullptr : &all_[*found];
  }

  /// @param allocation  marked if it belongs to an init container
  bool holds(const CheckpointEntry& entry, const PodFolder* pod, Allocation& allocation) {
    if (pod == nullptr)
      return traces_.has_group(entry.pod_uid) || !traces_.shows_folders() || traces_.has_folder(entry.pod_uid);
    const auto listed = listed_.find({pod->pod_namespace, pod->name});
    if (listed != listed_.end()) return holds_in_listed(entry, *pod, listed->second, allocation);
    if (traces_.has_group(pod->uid)) return true;
    // A kubelet that has just started lists the API server's pods once it has received them.
    if (answers_ && from_api_server_) return false;
    if (answers_ && traces_.shows_folders()) return traces_.has_volumes(pod->uid);
    return !traces_.shows_folders() || traces_.has_folder(pod->uid);
  }

  bool holds_in_listed(const CheckpointEntry& entry, const PodFolder& pod, const std::set<std::string>& containers,
                       Allocation& allocation) {
    const bool is_only_one = traces_.count_named(pod.pod_namespace, pod.name) < 2;
    // The entry may be of a former pod with the same name: a StatefulSet reuses its pods' names.
    if (containers.contains(entry.container)) return !is_only_one && traces_.has_group(pod.uid);
    if (!is_only_one && traces_.shows_groups() && !traces_.has_group(pod.uid)) return false;
    allocation.init_container = true;
    const std::set<std::string> running = traces_.running_containers(pod);
    if (running.contains(entry.container)) {
      running_.insert({pod.pod_namespace, pod.name, entry.container});
      return true;
    }
    return containers.empty() || !std::ranges::includes(running, containers);
  }

  /// An init container's device passes to the later containers: of the containers of a pod with the same device, the
  /// init container has it while it runs, then the other one.
  void leave_one_of_each_pod() {
    std::map<Triple, bool> init_has_it;  // by pod and device
    for (const Allocation& each : all_) {
      bool& init = init_has_it[{each.pod_namespace, each.pod, each.id}];
      init = init || (each.init_container && running_.contains({each.pod_namespace, each.pod, each.container}));
    }
    std::set<Triple> with_others;
    for (const Allocation& each : all_)
      if (!each.init_container) with_others.insert({each.pod_namespace, each.pod, each.id});
    std::erase_if(all_, [&](const Allocation& each) {
      const Triple key(each.pod_namespace, each.pod, each.id);
      if (!with_others.contains(key)) return false;
      return each.init_container != init_has_it[key];
    });
  }

  bool answers_;
  PodTraces& traces_;
  bool from_api_server_ = false;
  std::map<PodName, std::set<std::string>> listed_;       ///< containers
  std::map<Triple, std::vector<std::size_t>> listed_at_;  ///< index in all_ by container, resource and id
  std::set<Triple> running_;                              ///< init containers
  std::vector<Allocation> all_;
};

bool may_not_ask(const Error& error) { return error.code == ErrorCode::denied && ::geteuid() != 0; }

bool is_not_there(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::unreachable;
}

}  // namespace

std::vector<Allocation> merge(const std::vector<ListedPod>* listed, const Checkpoint& checkpoint, PodTraces& traces) {
  Merge merge(listed, traces);
  for (const CheckpointEntry& entry : checkpoint.entries) merge.add(entry);
  return merge.take();
}

Result<Checkpoint> AllocationReader::checkpoint() {
  const std::string root = kubelet_root_of(socket_);
  if (root.empty()) return Checkpoint();
  const std::string file = checkpoint_file(root);
  auto text = host_.read(file, kLargestCheckpoint);
  if (!text && (text.error().code == ErrorCode::not_found || may_not_ask(text.error()))) return Checkpoint();
  if (!text) return text.error();
  if (!parsed_ || *text != text_) parsed_ = parse_checkpoint(*text, file);
  text_ = std::move(*text);
  return *parsed_;
}

Allocations AllocationReader::read() {
  Allocations found;
  // A simulated machine below this machine's own root: kubelet there belongs to this machine.
  if (!host_.live() && host_.root_folder() == "/") {
    found.silent =
        Error{ErrorCode::not_found, "a simulated machine without a root of its own has no kubelet", {}, {}, {}};
    return found;
  }
  // Reads the checkpoint first: a pod that appears between the two reads is then in kubelet's list.
  const auto saved = checkpoint();
  const auto listed = list_pods(host_, socket_);
  if (!listed) found.silent = listed.error();
  if (!listed && may_not_ask(listed.error())) return found;
  PodTraces traces(host_, kubelet_root_of(socket_));
  found.all = merge(listed ? &*listed : nullptr, saved ? *saved : Checkpoint(), traces);
  if (!listed && !is_not_there(listed.error()))
    found.incomplete = "kubelet does not report which pods have GPUs: " + listed.error().what;
  else if (!saved)
    found.incomplete = (listed ? "kubelet's checkpoint, which has the init containers, cannot be read: "
                               : "kubelet does not run, and its list of devices cannot be read: ") +
                       saved.error().what;
  return found;
}

}  // namespace slipway::nvidia::kubelet
