// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/clients.hpp"

#include <algorithm>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/system.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

struct Memory {
  std::map<unsigned, std::uint64_t> by_pid;  ///< a process that computes and draws has the same memory in both lists
  std::optional<std::uint64_t> free_bytes;
};

Memory memory_of(nvml::Nvml& library, const std::string& uuid) {
  Memory memory;
  const auto handle = nvml::device_by_uuid(library, uuid);
  if (!handle) return {};
  if (const auto sizes = nvml::memory(library, *handle)) memory.free_bytes = sizes->free;
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::graphics, nvml::ProcessKind::mps}) {
    const auto processes = nvml::processes(library, *handle, kind).value_or({});
    for (const nvml::Process& each : processes)
      memory.by_pid[each.pid] = std::max(memory.by_pid[each.pid], each.memory_bytes.value_or(0));
  }
  return memory;
}

/// Finding the name of a pod requires a scan of kubelet's log folders.
Client client_of(const Host& host, unsigned pid, std::uint64_t bytes, const std::vector<Client>& former) {
  const auto known = std::ranges::find(former, pid, &Client::pid);
  if (known != former.end() && !known->pod.empty()) {
    const std::string cgroups = host.read("/proc/" + std::to_string(pid) + "/cgroup").value_or("");
    if (nvidia::owner_of(cgroups).container == known->container) {
      Client same = *known;
      same.memory_bytes = bytes;
      return same;
    }
  }
  const nvidia::Process process = nvidia::read_process(host, pid);
  return {pid, bytes, process.owner.container, process.name, process.pod, process.pod_container};
}

MemoryUse use_of(const Memory& memory, const Host& host, const std::vector<Client>& known) {
  MemoryUse use;
  use.free_bytes = memory.free_bytes;
  for (const auto& [pid, bytes] : memory.by_pid) use.clients.push_back(client_of(host, pid, bytes, known));
  std::ranges::stable_sort(use.clients, std::greater(), &Client::memory_bytes);
  return use;
}

}  // namespace

Clients read_clients(nvml::Nvml& library, const Host& host, const std::vector<Gpu>& gpus, const Clients& former) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled) uuids.push_back(gpu.uuid);
    for (const MigDevice& mig : gpu.mig_devices) uuids.push_back(mig.uuid);
  }
  const auto memories = library.ask_each<Memory>(uuids.size(), [uuids](nvml::Nvml& inside, std::size_t i, Memory& one) {
    one = memory_of(inside, uuids[i]);
    return NVML_SUCCESS;
  });
  Clients all;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    const auto before = former.find(uuids[i]);
    all[uuids[i]] =
        use_of(memories[i].value(), host, before == former.end() ? std::vector<Client>() : before->second.clients);
  }
  return all;
}

}  // namespace slipway::deviceplugin
