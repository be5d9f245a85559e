// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/clients.hpp - which processes hold how much memory of which GPU: who exhausts a shared
// one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"

namespace slipway::deviceplugin {

struct Client {
  unsigned pid = 0;
  std::uint64_t memory_bytes = 0;
  std::string container;  ///< its id, from the process's cgroup; empty: it is in none
  bool operator==(const Client&) const = default;
};

/// By UUID of the GPU or MIG device; those with the most memory first.
using Clients = std::map<std::string, std::vector<Client>>;

Clients read_clients(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Gpu>& gpus);

/// The container's id in the text of /proc/PID/cgroup: 64 hexadecimal digits, whatever is around them.
std::string container_in(std::string_view cgroups);

}  // namespace slipway::deviceplugin
