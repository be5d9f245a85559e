// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/clients.hpp"

#include <algorithm>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

/// A process may compute and draw: both lists name the same memory.
using Memory = std::map<unsigned, std::uint64_t>;

Memory memory_of(nvml::Nvml& library, const std::string& uuid) {
  Memory memory;
  const auto handle = nvml::device_by_uuid(library, uuid);
  if (!handle) return {};
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::graphics, nvml::ProcessKind::mps}) {
    const auto processes = nvml::processes(library, *handle, kind).value_or({});
    for (const nvml::Process& each : processes)
      memory[each.pid] = std::max(memory[each.pid], each.memory_bytes.value_or(0));
  }
  return memory;
}

std::vector<Client> clients_of(nvml::Nvml& library, const Host& host, const std::string& uuid) {
  const auto answer = library.ask_together<Memory>([uuid](nvml::Nvml& inside, Memory& memory) {
    memory = memory_of(inside, uuid);
    return NVML_SUCCESS;
  });
  std::vector<Client> clients;
  for (const auto& [pid, bytes] : answer.value())
    clients.push_back(
        {pid, bytes, container_in(host.read("/proc/" + std::to_string(pid) + "/cgroup").value_or(std::string()))});
  std::ranges::stable_sort(clients, std::greater(), &Client::memory_bytes);
  return clients;
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

Clients read_clients(nvml::Nvml& library, const Host& host, const std::vector<Gpu>& gpus) {
  Clients all;
  for (const Gpu& gpu : gpus) {
    std::vector<std::string> uuids{gpu.uuid};
    if (gpu.mig_enabled) uuids.clear();
    for (const MigDevice& mig : gpu.mig_devices) uuids.push_back(mig.uuid);
    for (const std::string& uuid : uuids)
      if (auto clients = clients_of(library, host, uuid); !clients.empty()) all[uuid] = std::move(clients);
  }
  return all;
}

std::string container_in(std::string_view cgroups) {
  constexpr std::size_t kDigits = 64;
  std::string found;
  for (std::size_t at = 0; at < cgroups.size();) {
    std::size_t end = at;
    while (end < cgroups.size() && is_hex(cgroups[end])) ++end;
    if (end - at == kDigits) found = cgroups.substr(at, kDigits);
    at = end + 1;
  }
  return found;
}

}  // namespace slipway::deviceplugin
