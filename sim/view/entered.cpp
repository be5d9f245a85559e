// SPDX-License-Identifier: Apache-2.0
#include "sim/view/entered.hpp"

#include <algorithm>

#include <slipway/local_host.hpp>

#include "sim/model/machine.hpp"
#include "sim/view/driver.hpp"
#include "sim/view/view.hpp"

namespace slipway::core {
namespace {

/// @return the driver's version of the machine that was made, empty when the profile's settings name it
Result<std::string> write_first_machine(const std::string& name, const std::string& folder) {
  SLIPWAY_TRY(profile, read_sim_profile(name, sim_profile_folders()));
  SLIPWAY_TRY(machine, make_sim_machine(profile, sim_profile_folders()));
  SLIPWAY_CHECK(write_sim_machine(*machine, folder));
  const auto is_driver = [](const auto& setting) { return setting.first == "driver"; };
  return std::ranges::any_of(profile.settings, is_driver) ? std::string() : std::string(machine->driver_version);
}

}  // namespace

Result<EnteredMachine> enter_machine(const std::string& profile, const std::string& folder, const std::string& root) {
  EnteredMachine machine;
  SLIPWAY_TRY(view, open_sim_view(profile, folder + "/view"));
  machine.kernel_view = view.folder;
  machine.kernel_release = view.kernel_release;
  const std::string first = folder + "/nvml";
  const auto library = sim_library();
  if (!library) {
    machine.note = library.error().what;
    return machine;
  }
  SLIPWAY_TRY(driver_version, write_first_machine(profile, first));
  const std::string lasting = root == "/" ? first : root + "/run/slipway/sim";
  machine.driver = driver_version;
  machine.machines = {first, lasting};
  machine.environment = {"SLIPWAY_NVML=" + *library, "SLIPWAY_SIM=" + lasting,
                         "SLIPWAY_SIM_FIRST=" + first + "/machine"};
  return machine;
}

Status follow_root(const EnteredMachine& machine, const std::string& root) {
  if (machine.driver.empty()) return {};
  SLIPWAY_TRY(host, open_host({.root = root, .live = false}));
  const std::string version = installed_driver_version(*host);
  if (version.empty()) return {};
  for (const std::string& folder : machine.machines)
    SLIPWAY_CHECK(follow_installed_driver(folder, machine.driver, version));
  return {};
}

}  // namespace slipway::core
