// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/clients.hpp - the processes that hold memory of each GPU, and how much: they show the
// users of an exhausted shared GPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"

namespace slipway::deviceplugin {

struct Client {
  unsigned pid = 0;
  std::uint64_t memory_bytes = 0;
  std::string container;      ///< its container's id, from the process's cgroup; empty: it is not in a container
  std::string process;        ///< the kernel's name of it (comm); may be empty
  std::string pod;            ///< "NAMESPACE/NAME"; empty: unknown, or it is not in a pod
  std::string pod_container;  ///< the container's name in the pod
  bool operator==(const Client&) const = default;
};

/// The used memory of a GPU or MIG device.
struct MemoryUse {
  std::vector<Client> clients;              ///< those with the most memory first
  std::optional<std::uint64_t> free_bytes;  ///< empty: NVML does not report it
  bool operator==(const MemoryUse&) const = default;
};

/// By UUID of the GPU or MIG device.
using Clients = std::map<std::string, MemoryUse>;

/// @param former  from the previous look: a process in the same container is not looked up again
Clients read_clients(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Gpu>& gpus,
                     const Clients& former = {});

}  // namespace slipway::deviceplugin
