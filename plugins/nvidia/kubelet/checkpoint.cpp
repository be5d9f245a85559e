// SPDX-License-Identifier: Apache-2.0
// kubelet's file device-plugins/kubelet_internal_checkpoint:
//
//   {"Data": {"PodDeviceEntries": [{"PodUID": "…", "ContainerName": "c", "ResourceName": "nvidia.com/gpu",
//                                   "DeviceIDs": {"0": ["GPU-…"]}, …}], …}, …}
//
// DeviceIDs are by NUMA node ("-1": none) since Kubernetes 1.20, and a list before.
#include <algorithm>
#include <set>

#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/holders.hpp"
#include "nvidia/kubelet/pod_folder.hpp"

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::size_t kLargest = 16U << 20U;
constexpr std::size_t kLongestText = 253;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  const bool is_text = found != object.end() && found->is_string();
  return is_text ? found->get<std::string>().substr(0, kLongestText) : std::string();
}

void name_pod(const std::vector<PodFolder>& folders, const std::string& uid, Holder& holder) {
  const PodFolder* const folder = find_pod(folders, uid);
  holder.pod = folder == nullptr ? uid : folder->name;
  if (folder != nullptr) holder.pod_namespace = folder->pod_namespace;
}

void add_ids(const Json& ids, const Holder& holder, std::map<std::string, std::set<Holder>, std::less<>>& found) {
  if (!ids.is_array()) return;
  for (const Json& id : ids) {
    if (!id.is_string()) continue;
    DeviceId device = parse_device_id(id.get<std::string>());
    Holder given = holder;
    given.replica = std::move(device.replica);
    auto& holders = found[std::move(device.key)];
    if (holders.size() < kMostHolders) holders.insert(std::move(given));
  }
}

/// Beside the folder of that socket; empty: the socket lies elsewhere.
std::string checkpoint_of(const std::string& socket) {
  constexpr std::string_view kSocket = "/pod-resources/kubelet.sock";
  if (!socket.ends_with(kSocket)) return {};
  return socket.substr(0, socket.size() - kSocket.size()) + "/device-plugins/kubelet_internal_checkpoint";
}

}  // namespace

Result<Holders> holders_of_checkpoint(const Host& host, const std::string& file) {
  SLIPWAY_TRY(text, host.read(file, kLargest));
  const Json checkpoint = parse_foreign(text);
  const Json data = checkpoint.is_object() ? checkpoint.value("Data", Json()) : Json();
  const auto entries = data.is_object() ? data.find("PodDeviceEntries") : data.end();
  if (entries == data.end() || !(entries->is_array() || entries->is_null()))  // null: it has given none
    return Error{ErrorCode::corrupt, "kubelet's list of devices has another form", file, {}, {}};
  const std::vector<PodFolder> folders = pod_folders(host);
  std::map<std::string, std::set<Holder>, std::less<>> found;
  for (const Json& entry : *entries) {
    if (!entry.is_object()) continue;
    Holder holder{.pod_namespace = {}, .pod = {}, .container = text_at(entry, "ContainerName"), .replica = {}};
    name_pod(folders, text_at(entry, "PodUID"), holder);
    const Json ids = entry.value("DeviceIDs", Json());
    if (ids.is_array()) add_ids(ids, holder, found);
    if (ids.is_object())
      for (const Json& of_node : ids) add_ids(of_node, holder, found);
  }
  Holders holders;
  for (const auto& [key, each] : found) holders.emplace(key, std::vector<Holder>(each.begin(), each.end()));
  return holders;
}

Result<Holders> given_devices(const Host& host, const std::string& socket) {
  const auto failed = [&](const std::string& what) { return Error{ErrorCode::io, what, socket, {}, {}}; };
  const auto end = connect_to(host, socket);
  if (end) {
    const auto answer = list_pods(end->get());
    auto holders = answer ? all_holders_in(*answer) : Result<Holders>(answer.error());
    if (holders) return holders;
    return failed("kubelet does not say which pods have it: " + holders.error().what);
  }
  const auto may_not = [](const Error& error) { return error.code == ErrorCode::denied && ::geteuid() != 0; };
  if (may_not(end.error())) return Holders();
  const ErrorCode why = end.error().code;
  if (why != ErrorCode::not_found && why != ErrorCode::unreachable)
    return failed("kubelet does not say which pods have it: " + end.error().what);
  // kubelet removes its socket when it starts, and somebody may have removed it since: its pods run on all the same.
  const std::string file = checkpoint_of(socket);
  if (file.empty()) return Holders();
  auto holders = holders_of_checkpoint(host, file);
  if (holders) return holders;
  if (holders.error().code == ErrorCode::not_found || may_not(holders.error())) return Holders();
  return failed("kubelet does not run, and its list of devices cannot be read: " + holders.error().what);
}

}  // namespace slipway::nvidia::kubelet
