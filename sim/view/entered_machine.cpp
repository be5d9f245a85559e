// SPDX-License-Identifier: Apache-2.0
#include "sim/view/entered_machine.hpp"

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

#include <slipway/local_host.hpp>

#include "sim/model/machine.hpp"
#include "sim/view/driver.hpp"
#include "sim/view/view.hpp"

namespace slipway::sim {
namespace {

/// @return the driver version of the created machine, empty when the profile's settings have it
Result<std::string> write_first_machine(const std::string& name, const std::string& folder) {
  SLIPWAY_TRY(profile, read_sim_profile(name, sim_profile_folders()));
  SLIPWAY_TRY(machine, make_sim_machine(profile, sim_profile_folders()));
  SLIPWAY_CHECK(write_sim_machine(*machine, folder));
  const auto is_driver = [](const auto& setting) { return setting.first == "driver"; };
  return std::ranges::any_of(profile.settings, is_driver) ? std::string() : std::string(machine->driver_version);
}

/// An earlier command, or this one, may have changed the instances.
Status follow_instances(const EnteredMachine& machine) {
  std::error_code code;
  if (machine.machines.empty() || !std::filesystem::exists(machine.kernel_view + "/proc/driver/nvidia/version", code))
    return {};
  const auto state = read_sim_machine(machine.machines.back());
  return state ? follow_sim_instances(**state, machine.kernel_view) : Status();
}

/// The lasting state is in the root itself: the simulator maps and writes it by path, and a link in an image would
/// redirect that to a file of the build machine.
Status check_no_link(const std::string& root) {
  for (const char* part : {"/run", "/run/slipway", "/run/slipway/sim", "/run/slipway/sim/machine"}) {
    struct stat info {};
    if (::lstat((root + part).c_str(), &info) == 0 && !S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
      return Error{ErrorCode::invalid,
                   root + part + " is neither a folder nor a file, and the simulated machine is kept there",
                   root + part,
                   "remove it, or try the spec on another root",
                   {}};
  }
  return {};
}

}  // namespace

Result<EnteredMachine> enter_machine(const std::string& profile, const std::string& folder, const std::string& root) {
  if (root != "/") SLIPWAY_CHECK(check_no_link(root));
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
  // A machine that lasts has other processes by now.
  if (const auto state = read_sim_machine(lasting)) SLIPWAY_CHECK(write_sim_processes(**state, machine.kernel_view));
  machine.driver = driver_version;
  machine.machines = {first, lasting};
  machine.environment = {"SLIPWAY_NVML=" + *library, "SLIPWAY_SIM=" + lasting,
                         "SLIPWAY_SIM_FIRST=" + first + "/machine"};
  SLIPWAY_CHECK(follow_instances(machine));
  return machine;
}

Status follow_root(const EnteredMachine& machine, const std::string& root) {
  SLIPWAY_CHECK(follow_instances(machine));
  if (machine.driver.empty()) return {};
  SLIPWAY_TRY(host, open_host({.root = root, .live = false}));
  const std::string version = installed_driver_version(*host);
  if (version.empty()) return {};
  for (const std::string& folder : machine.machines)
    SLIPWAY_CHECK(follow_installed_driver(folder, machine.driver, version));
  return {};
}

}  // namespace slipway::sim
