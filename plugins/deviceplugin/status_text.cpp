// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "deviceplugin/conflicts.hpp"
#include "deviceplugin/memory.hpp"
#include "deviceplugin/status.hpp"
#include "nvidia/kubelet/gpu_pods.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;

std::string mebibytes(const Json& object) {
  return fmt::format("{} MiB", object.value("memoryBytes", std::uint64_t{0}) >> 20U);
}

Json list_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : Json::array();
}

std::string health_of(const Json& gpu) {
  const Json health = gpu.value("health", Json::object());
  return health.value("healthy", false) ? "healthy" : health.value("reason", "unhealthy");
}

/// Makes each column as wide as its widest cell; the last one is not padded.
std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) text += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += row[kColumns - 1] + "\n";
  }
  return text;
}

std::string gpus_text(const Json& gpus) {
  std::vector<Row> rows{{"GPU", "PCI address", "product", "memory", "health"}};
  for (const Json& gpu : gpus) {
    rows.push_back({std::to_string(gpu.value("index", 0)), gpu.value("address", ""), gpu.value("product", ""),
                    mebibytes(gpu), health_of(gpu)});
    const Json parts = list_of(gpu, "migDevices");
    for (const Json& mig : parts)
      rows.push_back({fmt::format("{}:{}", gpu.value("index", 0), mig.value("index", 0)), "",
                      "MIG " + mig.value("profile", ""), mebibytes(mig), ""});
  }
  return table(rows);
}

/// Returns the pods with a GPU or MIG device according to kubelet: "team-a/s1, container main (nvidia.com/gpu, replica
/// 2)".
std::vector<std::string> holders_of(const Json& status, const std::string& uuid) {
  std::vector<std::string> texts;
  const Json holders = list_of(status, "holders");
  for (const Json& holder : holders) {
    const Json ids = list_of(holder, "ids");
    for (const Json& id : ids) {
      if (!id.is_string()) continue;
      const auto device = nvidia::kubelet::parse_device_id(id.get_ref<const std::string&>());
      if (device.key != uuid && device.key != nvidia::kubelet::parse_device_id(uuid).key) continue;
      texts.push_back(fmt::format("{}, {} {} ({}{})", holder.value("pod", ""),
                                  holder.value("initContainer", false) ? "init container" : "container",
                                  holder.value("container", ""), holder.value("resource", ""),
                                  device.replica.empty() ? "" : ", replica " + device.replica));
    }
  }
  return texts;
}

/// Returns a line for each pod with the GPU.
std::string pods_text(const Json& status, const Json& gpu) {
  std::string text;
  const auto add = [&](const std::string& label, const std::string& uuid) {
    for (const std::string& holder : holders_of(status, uuid)) text += label + ": given to pod " + holder + "\n";
  };
  add(fmt::format("GPU {}", gpu.value("index", 0)), gpu.value("uuid", ""));
  const Json parts = list_of(gpu, "migDevices");
  for (const Json& mig : parts)
    add(fmt::format("GPU {}, MIG device {}", gpu.value("index", 0), mig.value("index", 0)), mig.value("uuid", ""));
  return text;
}

/// Lists the users of the GPU's memory, and the GPU's problems.
std::string notes_text(const Json& gpu) {
  const std::string label = fmt::format("GPU {}", gpu.value("index", 0));
  std::string text;
  const Json clients = list_of(gpu, "clients");
  for (const Json& client : clients) {
    const std::string container = client.value("container", "");
    const std::string process = client.value("process", "");
    const std::string pod = client.value("pod", "");
    std::string owner = container.empty() ? "" : " of container " + container;
    if (!pod.empty())
      owner = " of pod " + pod + (container.empty() ? "" : ", container " + client.value("podContainer", container));
    text += fmt::format("{}: process {}{}{} holds {}\n", label, client.value("pid", 0),
                        process.empty() ? "" : " (" + process + ")", owner, mebibytes(client));
  }
  const Json health = gpu.value("health", Json::object());
  if (health.value("healthy", false)) return text;
  text += fmt::format("{}: {}\n", label, health.value("text", "is unhealthy"));
  if (const std::string remedy = health.value("remedy", ""); !remedy.empty()) text += "  do: " + remedy + "\n";
  return text;
}

std::string resource_text(const Json& resource) {
  std::string text = fmt::format("{}: {} of {} healthy", resource.value("name", ""), resource.value("healthy", 0),
                                 resource.value("ids", 0));
  if (const std::string sharing = resource.value("sharing", "none"); sharing != "none") text += ", shared: " + sharing;
  text += resource.value("registered", false) ? ", registered with kubelet" : ", not registered with kubelet";
  if (resource.contains("registeredInMs")) text += fmt::format(" within {} ms", resource.value("registeredInMs", 0));
  for (const char* why : {"problem", "waitsFor"})
    if (const std::string reason = resource.value(why, ""); !reason.empty()) text += ": " + reason;
  return text + "\n";
}

}  // namespace

std::string status_text(const Json& status) {
  std::string text;
  if (const std::string driver = status.value("driverVersion", ""); !driver.empty()) text += "driver " + driver + "\n";
  const Json gpus = list_of(status, "gpus");
  if (!gpus.empty()) text += gpus_text(gpus);
  for (const Json& gpu : gpus) text += pods_text(status, gpu) + notes_text(gpu);
  for (const Conflict& each : conflicts_in(status)) text += each.text + "\n  do: " + each.remedy + "\n";
  for (const Shortage& each : memory_shortages(status))
    if (each.exhausted) text += each.text + "\n  do: " + each.remedy + "\n";
  const Json resources = list_of(status, "resources");
  for (const Json& resource : resources) text += resource_text(resource);
  if (resources.empty()) text += "No resources are offered to kubelet.\n";
  if (const std::string yields = status.value("yields", ""); !yields.empty()) text += yields + "\n";
  for (const Json& note : list_of(status, "notes"))
    if (note.is_string()) text += "note: " + note.get<std::string>() + "\n";
  if (const std::string problem = status.value("problem", ""); !problem.empty()) text += "problem: " + problem + "\n";
  return text;
}

}  // namespace slipway::deviceplugin
