// SPDX-License-Identifier: Apache-2.0
#include "sim/model/machine.hpp"

namespace slipway::sim {
namespace {

constexpr std::size_t kText = 10;

}  // namespace

std::optional<SimVgpuHost> sim_vgpu_host(const SimProfile& profile) {
  for (const auto& [key, value] : profile.settings) {
    if (key != "vgpu") continue;
    const auto slash = value.find('/');
    if (slash == std::string::npos || slash == 0 || slash > kText) return std::nullopt;
    SimVgpuHost host{value.substr(0, slash), value.substr(slash + 1)};
    if (host.branch.empty() || host.branch.size() > kText) return std::nullopt;
    return host;
  }
  return std::nullopt;
}

std::string sim_vgpu_record(const SimVgpuHost& host) {
  std::string part = host.driver_version;
  part.resize(kText, '\0');
  part += host.branch;
  part.resize(2 * kText, '\0');
  std::string record = std::string("\x09\0\0VF\0", 6) + static_cast<char>(part.size() + 2) + part;
  record[2] = static_cast<char>(record.size());
  return record;
}

}  // namespace slipway::sim
