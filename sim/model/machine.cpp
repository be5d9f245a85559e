// SPDX-License-Identifier: Apache-2.0
#include "sim/model/machine.hpp"

#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/write/new_file.hpp"
#include "core/loader/installation.hpp"
#include "sim/model/model.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStateName = "machine";
constexpr unsigned kFabricDone = 3;  // NVML_GPU_FABRIC_STATE_COMPLETED
constexpr unsigned kIsVgpu = 2;      // NVML_GPU_VIRTUALIZATION_MODE_VGPU

/// FNV-1a: the same text gives the same number on every machine.
std::uint64_t digest(const std::string& text, std::uint64_t state = 0xcbf29ce484222325ULL) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return state;
}

unsigned branch_of(const std::string& version) {
  unsigned branch = 0;
  std::from_chars(version.data(), version.data() + version.size(), branch);
  return branch;
}

void set_place(const SimPciFunction& function, sim::Gpu& gpu) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  std::sscanf(function.address.c_str(), "%x:%x:%x", &domain, &bus, &device);
  gpu.domain = domain;
  gpu.bus = bus;
  gpu.device = device;
  gpu.pci_id = std::uint32_t{function.device} << 16U | function.vendor;
  gpu.subsystem_id =
      std::uint32_t{function.subsystem_device.value_or(0)} << 16U | function.subsystem_vendor.value_or(0);
  gpu.device_class = function.device_class;
  gpu.numa_node = function.numa_node ? static_cast<std::int32_t>(*function.numa_node) : -1;
  gpu.pcie_switch = function.pcie_switch ? static_cast<std::int32_t>(*function.pcie_switch) : -1;
}

/// Sets names that stay the same whenever the machine is created again.
void set_identity(const std::string& profile, unsigned index, sim::Gpu& gpu) {
  const std::uint64_t high = digest(fmt::format("{}/{:x}:{:x}:{:x}", profile, gpu.domain, gpu.bus, gpu.device));
  const std::uint64_t low = digest("uuid", high);
  sim::set_text(gpu.uuid, fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU,
                                      high & 0xffffU, low >> 48U, low & 0xffffffffffffULL));
  sim::set_text(gpu.serial, fmt::format("1{:012}", low % 1000000000000ULL));
  gpu.minor = index;
  gpu.module_id = index + 1;
}

void set_fabric(const SimProfile& profile, sim::Gpu& gpu) {
  const bool fabric = gpu.model.architecture >= 9 && gpu.model.links > 0;
  gpu.fabric.state = fabric ? kFabricDone : 0;
  if (!fabric || profile.fabric_cluster.empty()) return;
  std::string digits = profile.fabric_cluster;
  std::erase(digits, '-');
  for (std::size_t i = 0; i < 16 && 2 * i + 1 < digits.size(); ++i)
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, gpu.fabric.cluster[i], 16);
  gpu.fabric.clique = profile.fabric_clique;
}

void fill_gpu(const SimProfile& profile, const SimPciFunction& function, unsigned index, sim::Gpu& gpu) {
  set_place(function, gpu);
  set_identity(profile.name, index, gpu);
  gpu.persistence = 1;
  gpu.ecc_current = gpu.ecc_pending = gpu.model.ecc;
  gpu.power_limit_mw = gpu.model.power_default_mw;
  set_fabric(profile, gpu);
}

Error bad_setting(const std::string& key, const std::string& value, const std::string& next) {
  return Error{ErrorCode::invalid, "the simulated machine cannot have " + key + "=" + value, "--sim", next, {}};
}

/// Adds a GPU instance with one compute instance that fills it. @return false when there is no room
bool add_instance(sim::Gpu& gpu, unsigned profile) {
  int code = 0;
  sim::GpuInstance* const made = sim::create_instance(gpu, profile, -1, false, &code);
  if (made == nullptr) return false;
  for (unsigned selector = 0; selector <= 6 && made->compute[0].used == 0; ++selector)
    if (sim::compute_slices(selector) == gpu.model.mig.profiles[profile].slices)
      sim::create_compute(gpu, *made, selector, -1, &code);
  return true;
}

Result<unsigned> profile_named(const sim::Gpu& gpu, const std::string& name) {
  std::vector<std::string> known;
  for (unsigned i = 0; i < gpu.model.mig.profile_count; ++i) {
    if (gpu.model.mig.profiles[i].name == name) return i;
    known.emplace_back(gpu.model.mig.profiles[i].name);
  }
  return bad_setting("mig", name, "its profiles are " + joined(known));
}

/// Enables MIG: "on" without instances, "1g.10gb" with as many as fit, "3g.40gb/2g.20gb" with one of each.
Status set_mig(const std::string& value, sim::Gpu& gpu) {
  if (gpu.model.mig.capable == 0) return bad_setting("mig", value, std::string(gpu.model.name) + " has no MIG");
  gpu.mig_current = gpu.mig_pending = 1;
  if (value == "on") return {};
  for (const std::string& name : split_list(value, '/')) {
    SLIPWAY_TRY(profile, profile_named(gpu, name));
    if (!add_instance(gpu, profile)) return bad_setting("mig", value, name + " does not fit any more");
    while (name == value && add_instance(gpu, profile)) continue;
  }
  return {};
}

/// "on": the costs in the profile; "off"; or the name of other costs.
Status set_costs(const std::string& value, const SimProfile& profile, const std::vector<std::string>& folders,
                 sim::Machine& machine) {
  if (value == "off") return {};
  if (value == "on" && profile.costs.empty())
    return bad_setting(
        "costs", value,
        "this machine was not measured; name others: costs=" + joined(sim_costs_names(folders), " or costs="));
  return apply_sim_costs(value == "on" ? profile.costs : value, folders, machine);
}

Status apply_settings(const SimProfile& profile, const std::vector<std::string>& folders, sim::Machine& machine) {
  for (const auto& [key, value] : profile.settings) {
    if (key == "driver" && value == "none") {
      machine.driver = sim::Driver::unloaded;
    } else if (key == "driver" && branch_of(value) >= 100) {
      sim::set_text(machine.driver_version, value);
      machine.driver_branch = branch_of(value);
    } else if (key == "mig") {
      for (unsigned i = 0; i < machine.gpu_count; ++i) SLIPWAY_CHECK(set_mig(value, machine.gpus[i]));
    } else if (key == "visible" && (value == "all" || value == "nodes")) {
      machine.visible = value == "all" ? sim::Visible::all : sim::Visible::by_device_nodes;
    } else if (key == "costs" && !value.empty()) {
      SLIPWAY_CHECK(set_costs(value, profile, folders, machine));
    } else if (key == "vgpu" && sim_vgpu_host(profile)) {
      for (unsigned i = 0; i < machine.gpu_count; ++i) machine.gpus[i].virtualization = kIsVgpu;
    } else {
      return bad_setting(key, value,
                         "settings are driver=VERSION|none, mig=on|PROFILE[/PROFILE…], visible=all|nodes, "
                         "costs=on|off|NAME, "
                         "vgpu=VERSION/BRANCH of the host's driver, each of at most 10 characters");
    }
  }
  return {};
}

std::uint64_t origin_of(const sim::Machine& machine, const SimProfile& profile) {
  std::string all = profile.name + profile.text;
  for (const auto& [key, value] : profile.settings) all += "," + key + "=" + value;
  for (unsigned i = 0; i < machine.gpu_count; ++i)
    all.append(reinterpret_cast<const char*>(&machine.gpus[i].model), sizeof(sim::Model));
  all.append(reinterpret_cast<const char*>(&machine.costs), sizeof machine.costs);
  all.append(reinterpret_cast<const char*>(machine.functions), sizeof machine.functions);
  return digest(all);
}

}  // namespace

Result<SimMachine> make_sim_machine(const SimProfile& profile, const std::vector<std::string>& folders) {
  auto machine = std::make_unique<sim::Machine>();
  std::memset(machine.get(), 0, sizeof(sim::Machine));  // clears padding too: the file is compared
  machine->magic = sim::kMagic;
  machine->layout = sim::kLayout;
  machine->size = sizeof(sim::Machine);
  sim::set_text(machine->profile, profile.name);
  sim::set_text(machine->driver_version, profile.driver_version);
  machine->driver_branch = branch_of(profile.driver_version);
  machine->cuda_version = profile.cuda_version;
  machine->epoch = 1;
  std::map<std::string, sim::Model> models;
  for (const SimPciFunction& function : profile.pci) {
    if (function.role != "gpu") continue;
    if (machine->gpu_count == sim::kMaxGpus)
      return Error{ErrorCode::invalid,
                   fmt::format("the simulator has room for {} GPUs", sim::kMaxGpus),
                   profile.name,
                   "leave some out of the profile",
                   {}};
    if (models.count(function.model) == 0) {
      SLIPWAY_TRY(model, find_sim_model(function.model, folders));
      models.emplace(function.model, model);
    }
    sim::Gpu& gpu = machine->gpus[machine->gpu_count];
    gpu.model = models.at(function.model);
    fill_gpu(profile, function, machine->gpu_count++, gpu);
  }
  SLIPWAY_CHECK(set_sim_links(profile, *machine));
  SLIPWAY_CHECK(apply_settings(profile, folders, *machine));
  machine->made_from = origin_of(*machine, profile);
  machine->made_at_ns = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  return machine;
}

Status write_sim_machine(const sim::Machine& machine, const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  return base::put_file(folder + "/" + kStateName, {reinterpret_cast<const char*>(&machine), sizeof machine},
                        base::NewFile::ours(0644), false);
}

Result<SimMachine> read_sim_machine(const std::string& folder) {
  const std::string file = (fs::path(folder) / kStateName).string();
  const auto bytes = read_regular(file, sizeof(sim::Machine), O_NOFOLLOW);  // a longer file has another version
  auto machine = std::make_unique<sim::Machine>();
  if (!bytes && bytes.error().code == ErrorCode::not_found)
    return Error{ErrorCode::not_found,
                 "there is no simulated machine",
                 file,
                 "make one with `slipway-sim FOLDER make PROFILE`",
                 {}};
  const bool whole = bytes && bytes->size() == sizeof(sim::Machine);
  if (whole) std::memcpy(machine.get(), bytes->data(), sizeof(sim::Machine));
  if (!whole || machine->magic != sim::kMagic || machine->layout != sim::kLayout)
    return Error{ErrorCode::invalid,
                 "this file is not the state of a simulated machine, or it is from another version of slipway",
                 file,
                 "make it again with `slipway-sim FOLDER make PROFILE`",
                 {}};
  return machine;
}

Result<std::string> sim_library() {
  std::error_code ignored;
  const fs::path beside = core::own_prefix() / "lib/slipway/sim/libnvidia-ml.so.1";
  for (const fs::path& path : {beside, fs::path(SLIPWAY_SIM_LIBRARY)})
    if (fs::exists(path, ignored)) return fs::canonical(path, ignored).string();
  return Error{ErrorCode::not_found,
               "the simulated libnvidia-ml.so.1 is not installed",
               beside.string(),
               "install slipway completely, or build the target slipway-sim-nvml",
               {}};
}

}  // namespace slipway::sim
