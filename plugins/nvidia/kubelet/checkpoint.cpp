// SPDX-License-Identifier: Apache-2.0
//   {"Data": {"PodDeviceEntries": [{"PodUID": "…", "ContainerName": "c", "ResourceName": "nvidia.com/gpu",
//                                   "DeviceIDs": {"0": ["GPU-…"]}, "AllocResp": "base64 of a
//                                   v1beta1.ContainerAllocateResponse"}], "RegisteredDevices": {"nvidia.com/gpu":
//                                   ["GPU-…"]}}, "Checksum": 1}
//
// DeviceIDs are by NUMA node ("-1": none) since Kubernetes 1.20, and a list before.
#include "nvidia/kubelet/checkpoint.hpp"

#include <slipway/json.hpp>
#include <slipway/text.hpp>

#include "nvidia/kubelet/pod_resources.hpp"
#include "slipway/kubelet/deviceplugin_v1beta1.pb.h"

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::size_t kLongestText = 253;
constexpr const char* kMpsVariable = "CUDA_MPS_PIPE_DIRECTORY";

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  const bool is_text = found != object.end() && found->is_string();
  return is_text ? found->get<std::string>().substr(0, kLongestText) : std::string();
}

void add_ids(const Json& ids, std::vector<std::string>& into) {
  if (!ids.is_array()) return;
  for (const Json& id : ids)
    if (id.is_string()) into.push_back(id.get<std::string>().substr(0, kLongestText));
}

bool connects_with_mps(const Json& entry) {
  const auto found = entry.find("AllocResp");
  if (found == entry.end() || !found->is_string()) return false;
  const auto bytes = base64_decoded(found->get_ref<const std::string&>());
  v1beta1::ContainerAllocateResponse response;
  return bytes && response.ParseFromString(*bytes) && response.envs().contains(kMpsVariable);
}

CheckpointEntry entry_of(const Json& json) {
  CheckpointEntry entry{.pod_uid = text_at(json, "PodUID"),
                        .container = text_at(json, "ContainerName"),
                        .resource = text_at(json, "ResourceName"),
                        .ids = {},
                        .mps = connects_with_mps(json)};
  const auto ids = json.find("DeviceIDs");
  if (ids == json.end()) return entry;
  add_ids(*ids, entry.ids);
  if (ids->is_object())
    for (const Json& of_node : *ids) add_ids(of_node, entry.ids);
  return entry;
}

}  // namespace

Result<Checkpoint> parse_checkpoint(const std::string& text, const std::string& file) {
  const Json json = parse_foreign(text);
  const auto data = json.is_object() ? json.find("Data") : json.end();
  const bool has_data = json.is_object() && data != json.end() && data->is_object();
  const auto entries = has_data ? data->find("PodDeviceEntries") : json.end();
  // null: kubelet has allocated nothing
  if (!has_data || entries == data->end() || !(entries->is_array() || entries->is_null()))
    return Error{ErrorCode::corrupt, "kubelet's list of devices has an unknown format", file, {}, {}};
  Checkpoint checkpoint;
  std::size_t count = 0;
  for (const Json& entry : *entries) {
    if (!entry.is_object()) continue;
    checkpoint.entries.push_back(entry_of(entry));
    count += checkpoint.entries.back().ids.size();
  }
  if (count > kMostDevices)
    return Error{ErrorCode::corrupt, "kubelet's list has more devices than kubelet can allocate", file, {}, {}};
  const auto registered = data->find("RegisteredDevices");
  if (registered == data->end() || !registered->is_object())
    return checkpoint;  // null before the first plugin
                        // registers
  for (const auto& [name, ids] : registered->items())
    if (ids.is_array()) add_ids(ids, checkpoint.registered[name]);
  return checkpoint;
}

Result<Checkpoint> read_checkpoint(const Host& host, const std::string& file) {
  SLIPWAY_TRY(text, host.read(file, kLargestCheckpoint));
  return parse_checkpoint(text, file);
}

std::string checkpoint_file(const std::string& kubelet_root) {
  return kubelet_root + "/device-plugins/kubelet_internal_checkpoint";
}

std::string kubelet_root_of(const std::string& pod_resources_socket) {
  constexpr std::string_view kSocket = kPodResourcesBelowRoot;
  if (!pod_resources_socket.ends_with(kSocket)) return {};
  return pod_resources_socket.substr(0, pod_resources_socket.size() - kSocket.size());
}

}  // namespace slipway::nvidia::kubelet
