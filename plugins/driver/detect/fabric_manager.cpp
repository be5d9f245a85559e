// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/fabric_manager.hpp"

#include <fmt/format.h>

#include "driver/detect/existing_driver.hpp"
#include "driver/detect/host_facts.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kDpkgStatusLimit = 64U << 20;

/// Matches nvidia-fabricmanager-535, and from 580 on the name without a branch; not nvidia-fabricmanager-dev-535.
bool is_fabric_manager_package(std::string_view name) {
  constexpr std::string_view kPackage = "nvidia-fabricmanager";
  if (!name.starts_with(kPackage)) return false;
  const auto branch = name.substr(kPackage.size());
  return branch.empty() || (branch.size() > 1 && branch[0] == '-' && branch[1] >= '0' && branch[1] <= '9');
}

}  // namespace

std::optional<FabricManager> read_fabric_manager(const Host& host) {
  if (const auto status = host.read("/var/lib/dpkg/status", kDpkgStatusLimit))
    for (auto& package : installed_packages(*status, &is_fabric_manager_package))
      return FabricManager{std::move(package.name), std::move(package.version)};
  const std::string program = "/usr/bin/nv-fabricmanager";
  return host.exists(program) ? std::optional(FabricManager{program, {}}) : std::nullopt;
}

std::string fabric_manager_fault(const HostFacts& facts, const std::string& driver_version) {
  if (facts.nvswitches.empty() && !facts.nvlink5_switches) return {};
  const std::string need =
      fmt::format("the NVSwitches of this machine need NVIDIA's Fabric Manager {}, ", driver_version);
  if (!facts.fabric_manager) return need + "and none is installed";
  const auto& [what, version] = *facts.fabric_manager;
  if (version.empty()) return need + fmt::format("and the version of {} cannot be told", what);
  return version == driver_version ? "" : need + fmt::format("and {} is installed ({})", version, what);
}

std::string fabric_manager_remedy(const std::string& driver_version) {
  return fmt::format(
      "install the Fabric Manager {} and start nvidia-fabricmanager.service; until then CUDA fails with "
      "error 802 (system not yet initialized)",
      driver_version);
}

}  // namespace slipway::driver
