// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/memory.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{512} << 20U;
constexpr std::uint64_t kShare = 20;
constexpr std::size_t kNamed = 4;

std::uint64_t bytes_of(const Json& object, const char* name) { return object.value(name, std::uint64_t{0}); }
std::uint64_t in_mib(std::uint64_t bytes) { return bytes >> 20U; }

Json list_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : Json::array();
}

std::string client_text(const Json& client) {
  std::string text = client.value("process", "");
  text += fmt::format("{} (pid {}", text.empty() ? "a process" : "", client.value("pid", 0U));
  const std::string container = client.value("container", "");
  if (const std::string pod = client.value("pod", ""); !pod.empty()) {
    text += ", pod " + pod;
    if (const std::string name = client.value("podContainer", ""); !name.empty()) text += ", container " + name;
  } else if (!container.empty()) {
    text += ", container " + container.substr(0, 12);
  }
  return text + fmt::format(") has {} MiB", in_mib(bytes_of(client, "memoryBytes")));
}

/// Returns the pods that have a replica of the device according to kubelet, each once.
std::vector<std::string> pods_with(const Json& status, const std::string& uuid) {
  std::vector<std::string> pods;
  const Json holders = list_in(status, "holders");
  for (const Json& holder : holders) {
    const Json ids = list_in(holder, "ids");
    const bool has = std::ranges::any_of(ids, [&](const Json& id) {
      return id.is_string() && (id == uuid || id.get_ref<const std::string&>().starts_with(uuid + "::"));
    });
    const std::string pod = holder.value("pod", "");
    if (has && std::ranges::find(pods, pod) == pods.end()) pods.push_back(pod);
  }
  return pods;
}

/// Returns the number of time-slicing replicas of the device; 1: it is not shared that way.
unsigned replicas_of(const Json& status, const std::string& uuid) {
  const Json resources = list_in(status, "resources");
  for (const Json& resource : resources) {
    if (resource.value("sharing", "") != "time-slicing") continue;
    const auto replicas = resource.find("replicas");
    if (replicas != resource.end() && replicas->is_object() && replicas->contains(uuid))
      return replicas->value(uuid, 1U);
  }
  return 1;
}

/// Returns the remedy: a memory limit per client.
std::string remedy_for(const Json& clients, std::uint64_t total, unsigned replicas) {
  const std::uint64_t limit = total / replicas;
  const auto above =
      std::ranges::count_if(clients, [&](const Json& each) { return bytes_of(each, "memoryBytes") > limit; });
  const std::string mps = fmt::format(
      "MPS instead of time-slicing (sharing.mps) limits each process to {} MiB, the "
      "memory divided by {}",
      in_mib(limit), replicas);
  const std::string mig = "; MIG, where the GPU has it, gives each container its own memory";
  if (above == 0) return "no process has more than its share: offer fewer replicas, or end one of them. " + mps + mig;
  return fmt::format(
             "end the process with the most memory, or make it use less. {}: then only {} would have failed", mps,
             above == 1 ? "the process that exceeds it" : fmt::format("the {} processes that exceed it", above)) +
         mig;
}

void look_at(const Json& status, const Json& device, const std::string& label, std::vector<Shortage>& found) {
  const std::string uuid = device.value("uuid", "");
  const unsigned replicas = replicas_of(status, uuid);
  const std::uint64_t total = bytes_of(device, "memoryBytes");
  if (replicas < 2 || !device.contains("freeBytes") || total == 0) return;
  const std::uint64_t left = bytes_of(device, "freeBytes");
  const std::uint64_t least = std::max(kLeast, total / kShare);
  if (left >= 2 * least) return;
  const Json clients = list_in(device, "clients");
  std::vector<std::string> names;
  for (const Json& client : clients) names.push_back(client_text(client));
  std::string text = fmt::format("{}, which up to {} containers share by time-slicing, has {} of {} MiB left", label,
                                 replicas, in_mib(left), in_mib(total));
  if (!names.empty()) text += ": " + first_few(names, kNamed);
  if (const auto pods = pods_with(status, uuid); !pods.empty())
    text += "; kubelet gave it to " + first_few(pods, kNamed);
  found.push_back({uuid, left < least, std::move(text), remedy_for(clients, total, replicas)});
}

}  // namespace

std::vector<Shortage> memory_shortages(const Json& status) {
  std::vector<Shortage> found;
  const Json gpus = list_in(status, "gpus");
  for (const Json& gpu : gpus) {
    const std::string label = fmt::format("GPU {} ({})", gpu.value("index", 0), gpu.value("address", ""));
    look_at(status, gpu, label, found);
    const Json parts = list_in(gpu, "migDevices");
    for (const Json& mig : parts)
      look_at(status, mig, fmt::format("MIG device {} of {}", mig.value("index", 0), label), found);
  }
  return found;
}

void add_memory_findings(const Json& status, Findings& findings) {
  for (const Shortage& each : memory_shortages(status))
    if (each.exhausted) findings.fail("deviceplugin.memory", each.text, each.remedy);
}

}  // namespace slipway::deviceplugin
