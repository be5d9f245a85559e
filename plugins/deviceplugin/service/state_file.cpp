// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/state_file.hpp"

#include <slipway/regular_file.hpp>
#include <slipway/service/metrics.hpp>

#include "base/write/new_file.hpp"
#include "deviceplugin/service/snapshot.hpp"
#include "deviceplugin/status.hpp"
namespace slipway::deviceplugin {
namespace {

/// The members of a GPU that are shown and stored.
template <class Self, class Visit>
void visit_gpu(Self& gpu, const Visit& visit) {
  visit("uuid", gpu.uuid);
  visit("index", gpu.index);
  visit("minor", gpu.minor);
  visit("address", gpu.address);
  visit("product", gpu.product);
  visit("memoryBytes", gpu.memory_bytes);
  visit("migEnabled", gpu.mig_enabled);
}
template <class Self, class Visit>
void visit_mig(Self& mig, const Visit& visit) {
  visit("uuid", mig.uuid);
  visit("index", mig.index);
  visit("profile", mig.profile);
  visit("memoryBytes", mig.memory_bytes);
}

auto into(Json& json) {
  return [&json](const char* name, const auto& value) { json[name] = value; };
}
auto out_of(const Json& json) {
  return [&json](const char* name, auto& value) { value = json.value(name, value); };
}

Json to_json(const Client& client) {
  Json json{{"pid", client.pid}, {"memoryBytes", client.memory_bytes}, {"container", client.container}};
  if (!client.process.empty()) json["process"] = client.process;
  if (!client.pod.empty()) json["pod"] = client.pod;
  if (!client.pod_container.empty()) json["podContainer"] = client.pod_container;
  return json;
}

void add_use(const std::string& uuid, const Clients& clients, Json& json) {
  const auto found = clients.find(uuid);
  if (found == clients.end()) return;
  if (found->second.free_bytes) json["freeBytes"] = *found->second.free_bytes;
  for (const Client& client : found->second.clients) json["clients"].push_back(to_json(client));
}

Json gpu_json(const Gpu& gpu, const Snapshot& snapshot, const Clients& clients) {
  const auto health = snapshot.health.find(gpu.uuid);
  Json json{{"health", to_json(health == snapshot.health.end() ? Health() : health->second)}};
  visit_gpu(gpu, into(json));
  if (gpu.numa_node) json["numaNode"] = *gpu.numa_node;
  if (gpu.place) json["place"] = *gpu.place;
  for (const MigDevice& mig : gpu.mig_devices) {
    Json& one = json["migDevices"].emplace_back();
    visit_mig(mig, into(one));
    add_use(mig.uuid, clients, one);
    const auto own = snapshot.health.find(instance_key(gpu.uuid, mig.gpu_instance));
    if (own != snapshot.health.end()) one["health"] = to_json(own->second);
  }
  if (!gpu.mig_enabled) add_use(gpu.uuid, clients, json);
  return json;
}

std::size_t healthy_of(const Snapshot& snapshot, const Resource& resource) {
  std::size_t healthy = 0;
  if (snapshot.unready.contains(resource.name)) return 0;
  for (const Id& id : resource.ids) healthy += snapshot.health_of(resource.devices[id.device]).healthy ? 1U : 0U;
  return healthy;
}

Json resource_json(const Resource& resource, const Snapshot& snapshot, const EndpointStatus& endpoint) {
  Json json{{"name", resource.name},
            {"devices", resource.devices.size()},
            {"ids", resource.ids.size()},
            {"healthy", healthy_of(snapshot, resource)},
            {"sharing", to_string(resource.sharing)},
            {"registered", endpoint.registered},
            {"registrations", endpoint.registrations}};
  if (!endpoint.problem.empty()) json["problem"] = endpoint.problem;
  if (!endpoint.waits_for.empty()) json["waitsFor"] = endpoint.waits_for;
  if (endpoint.took) json["registeredInMs"] = endpoint.took->count();
  if (resource.shared())
    for (const Id& id : resource.ids) {
      Json& replicas = json["replicas"][resource.devices[id.device].uuid];
      replicas = replicas.is_null() ? 1 : replicas.get<int>() + 1;
    }
  return json;
}

/// By pod, container and resource, with their ids.
Json holders_json(const std::vector<Allocation>& allocations) {
  Json list = Json::array();
  for (const Allocation& each : allocations) {
    const std::string pod = (each.pod_namespace.empty() ? "" : each.pod_namespace + "/") + each.pod;
    const bool is_same = !list.empty() && list.back()["pod"] == pod && list.back()["container"] == each.container &&
                         list.back()["resource"] == each.resource;
    if (!is_same)
      list.push_back(
          {{"pod", pod}, {"container", each.container}, {"resource", each.resource}, {"ids", Json::array()}});
    Json& holder = list.back();
    holder["ids"].push_back(each.id);
    if (each.init_container) holder["initContainer"] = true;
    if (each.from_checkpoint) holder["fromCheckpoint"] = true;
  }
  return list;
}

Json conflicts_json(const std::vector<SharingConflict>& conflicts) {
  Json list = Json::array();
  for (const SharingConflict& each : conflicts)
    list.push_back({{"gpu", each.gpu},
                    {"device", each.device},
                    {"resource", each.resource},
                    {"pods", each.pods},
                    {"text", each.text},
                    {"remedy", each.remedy}});
  return list;
}

constexpr std::size_t kLongestStatus = std::size_t{16} << 20U;

std::string in_status_folder(const char* name) { return std::string(kStatusFolder) + "/" + name; }

}  // namespace

std::map<std::string, long> offered_of(const Snapshot& snapshot) {
  std::map<std::string, long> offered;
  for (const auto& [name, resource] : snapshot.resources)
    offered[name] = static_cast<long>(healthy_of(snapshot, resource));
  return offered;
}

Json status_json(const ShownState& known) {
  const Snapshot& snapshot = known.snapshot;
  Json gpus = Json::array();
  for (const Gpu& gpu : snapshot.gpus) gpus.push_back(gpu_json(gpu, snapshot, known.clients));
  Json absent = Json::array();
  for (const AbsentGpu& gpu : snapshot.absent) absent.push_back({{"address", gpu.address}, {"text", absent_text(gpu)}});
  Json repartitioned = Json::array();
  for (const Gpu& gpu : snapshot.repartitioned) repartitioned.push_back(repartitioned_text(gpu));
  Json resources = Json::array();
  for (const auto& [name, resource] : snapshot.resources) {
    const auto endpoint = known.endpoints.find(name);
    Json json =
        resource_json(resource, snapshot, endpoint == known.endpoints.end() ? EndpointStatus() : endpoint->second);
    if (known.kubelet.allocatable)
      if (const auto found = known.kubelet.allocatable->find(name); found != known.kubelet.allocatable->end())
        json["allocatableAtKubelet"] = found->second;
    resources.push_back(std::move(json));
  }
  Json status{{"apiVersion", "slipway.dev/v1"},
              {"kind", "DevicePluginStatus"},
              {"driverVersion", snapshot.driver_version},
              {"gpus", gpus},
              {"absent", absent},
              {"repartitioned", repartitioned},
              {"resources", resources},
              {"notes", snapshot.notes},
              {"problem", snapshot.problem}};
  if (!snapshot.yields.empty()) status["yields"] = snapshot.yields;
  std::set<std::string> former = known.offered;
  for (const auto& [name, resource] : snapshot.resources) former.erase(name);
  if (!former.empty()) status["formerResources"] = former;
  if (known.quiesced) status["quiet"] = true;
  if (known.kubelet.settling) status["settling"] = true;
  if (known.kubelet.allocations) {
    const std::vector<Allocation>& all = *known.kubelet.allocations;
    status["holders"] = holders_json(allocations_on(snapshot.gpus, all));
    if (const auto conflicts = sharing_conflicts(snapshot.resources, snapshot.gpus, all); !conflicts.empty())
      status["conflicts"] = conflicts_json(conflicts);
  }
  return status;
}

std::string metrics_text(const ShownState& known) {
  const Snapshot& snapshot = known.snapshot;
  MetricsText metrics;
  metrics.begin("slipway_deviceplugin_gpu_healthy", "1 when the GPU may be allocated; `reason` says why not.");
  for (const Gpu& gpu : snapshot.gpus) {
    const auto found = snapshot.health.find(gpu.uuid);
    const Health health = found == snapshot.health.end() ? Health() : found->second;
    metrics.sample({{"uuid", gpu.uuid}, {"index", std::to_string(gpu.index)}, {"reason", health.reason}},
                   health.healthy);
  }
  metrics.begin("slipway_deviceplugin_devices", "Devices offered to kubelet, by resource.");
  for (const auto& [name, resource] : snapshot.resources) {
    const std::size_t healthy = healthy_of(snapshot, resource);
    metrics.sample({{"resource", name}, {"health", "healthy"}}, healthy);
    metrics.sample({{"resource", name}, {"health", "unhealthy"}}, resource.ids.size() - healthy);
  }
  metrics.begin("slipway_deviceplugin_registered", "1 when kubelet has accepted the resource.");
  for (const auto& [name, endpoint] : known.endpoints) metrics.sample({{"resource", name}}, endpoint.registered);
  metrics.begin("slipway_deviceplugin_client_memory_bytes", "GPU memory that a process holds.");
  for (const auto& [uuid, use] : known.clients)
    for (const Client& client : use.clients)
      metrics.sample({{"uuid", uuid}, {"pid", std::to_string(client.pid)}, {"container", client.container}},
                     client.memory_bytes);
  metrics.begin("slipway_deviceplugin_memory_free_bytes", "Memory of a GPU or MIG device that is not in use.");
  for (const auto& [uuid, use] : known.clients)
    if (use.free_bytes) metrics.sample({{"uuid", uuid}}, *use.free_bytes);
  return std::move(metrics).take();
}

Remembered read_remembered(const RootDir& root) {
  const Json status = parse_foreign(read_regular(root, in_status_folder("status.json"), kLongestStatus).value_or(""));
  Remembered remembered;
  if (!status.is_object() || !status.contains("gpus") || !status["gpus"].is_array()) return remembered;
  remembered.offered = offered_since_boot(status);
  for (const Json& each : status["gpus"]) {
    if (!each.is_object()) continue;
    Gpu gpu;
    visit_gpu(gpu, out_of(each));
    if (each.contains("numaNode")) gpu.numa_node = each.value("numaNode", 0);
    if (each.contains("place")) gpu.place = each.value("place", 0U);
    const Json mig_devices = each.value("migDevices", Json::array());
    for (const Json& mig : mig_devices)
      if (mig.is_object()) visit_mig(gpu.mig_devices.emplace_back(), out_of(mig));
    if (!gpu.uuid.empty()) remembered.gpus.push_back(gpu);
  }
  return remembered;
}

Status StateFile::write(const Json& status, const std::string& metrics) {
  const std::string text = pretty(status);
  if (text == status_ && metrics == metrics_) return {};
  SLIPWAY_CHECK(base::replace_file(root_, in_status_folder("status.json"), text));
  SLIPWAY_CHECK(base::replace_file(root_, in_status_folder("metrics.prom"), metrics));
  status_ = text;
  metrics_ = metrics;
  return {};
}

}  // namespace slipway::deviceplugin
