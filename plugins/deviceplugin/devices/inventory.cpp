// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/inventory.hpp"

#include <algorithm>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

/// sysfs has -1 if the kernel does not know the node.
std::optional<int> numa_node_of(const Host& host, const std::string& address) {
  const std::string text = host.attribute("/sys/bus/pci/devices/" + address + "/numa_node");
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(text);
}

/// The answers of one GPU.
struct GpuReading {
  Gpu gpu;
  nvmlDevice_t handle = nullptr;
  std::optional<unsigned> recovery_action;
};

/// Reads one GPU, and stops after an answer that says the GPU is gone.
class Reader {
 public:
  explicit Reader(nvml::Nvml& library) : library_(library) {}

  /// @param known  from an earlier look
  nvmlReturn_t read(unsigned index, const std::vector<Gpu>& known, GpuReading& reading) {
    Gpu& gpu = reading.gpu;
    gpu.index = index;
    const nvmlDevice_t handle = reading.handle = need(nvml::device_at(library_, index));
    if (good()) gpu.uuid = need(nvml::device_uuid(library_, handle));
    if (good()) gpu.minor = need(nvml::device_minor(library_, handle));
    if (good()) gpu.address = need(nvml::device_pci(library_, handle)).address;
    if (good()) gpu.product = want(nvml::device_name(library_, handle));
    if (good())
      gpu.memory_bytes = want(nvml::memory_total(library_, handle));  // some GPUs use the CPU's memory, and
                                                                      // report none
    if (good()) read_capability(handle, gpu);
    if (good()) gpu.mig_enabled = want(nvml::mig_mode(library_, handle)).current;
    const auto before = std::ranges::find(known, gpu.uuid, &Gpu::uuid);
    if (good() && gpu.mig_enabled)
      gpu.mig_devices = need(read_mig_devices(library_, handle, gpu,
                                              before == known.end() ? std::vector<MigDevice>() : before->mig_devices));
    if (good()) reading.recovery_action = nvml::asked_recovery_action(library_, reading.handle);
    return problem_;
  }

 private:
  bool good() const { return problem_ == NVML_SUCCESS; }
  template <class T>
  T need(const nvml::Answer<T>& answer) {
    problem_ = answer.code();
    return answer.value();
  }
  /// Reads a value that a healthy GPU may lack.
  template <class T>
  T want(const nvml::Answer<T>& answer) {
    if (answer.code() == nvml::kGaveUp || answer.code() == NVML_ERROR_GPU_IS_LOST) problem_ = answer.code();
    return answer.value_or({});
  }
  void read_capability(nvmlDevice_t handle, Gpu& gpu) {
    const auto capability = want(nvml::compute_capability(library_, handle));
    gpu.compute_major = capability.major;
    gpu.compute_minor = capability.minor;
  }

  nvml::Nvml& library_;
  nvmlReturn_t problem_ = NVML_SUCCESS;
};

struct Driver {
  std::string version;
  unsigned gpus = 0;
  const char* asked = "";  ///< what failed
};

nvml::Answer<Driver> read_driver(nvml::Nvml& library) {
  return library.ask_together<Driver>([](nvml::Nvml& inside, Driver& driver) {
    driver.asked = "read the driver's version";
    const auto version = nvml::driver_version(inside);
    if (!version) return version.code();
    driver.version = *version;
    driver.asked = "count the GPUs";
    const auto count = nvml::device_count(inside);
    driver.gpus = count.value_or(0);
    return count.code();
  });
}

/// Sets the node paths of MIG devices that are new.
void add_paths(const Host& host, const std::vector<Gpu>& known, std::vector<Gpu>& gpus) {
  std::optional<MigMinors> minors;
  for (Gpu& gpu : gpus)
    for (MigDevice& device : gpu.mig_devices) {
      const bool is_known = std::ranges::any_of(
          known, [&](const Gpu& old) { return std::ranges::find(old.mig_devices, device) != old.mig_devices.end(); });
      if (is_known) continue;
      if (!minors) minors = read_mig_minors(host);
      device.paths = capability_nodes(device, gpu.minor, *minors);
    }
}

bool drives_a_display(const std::string& product) {
  return product == "DGX Display" || product == "NVIDIA DGX Display";
}

}  // namespace

Result<Inventory> read_inventory(nvml::Nvml& library, const Host& host, const std::set<unsigned>& skip,
                                 const std::vector<Gpu>& known) {
  const auto driver = read_driver(library);
  if (!driver) return driver.error(driver->asked[0] == '\0' ? "read the driver's version" : driver->asked);
  Inventory inventory;
  inventory.driver_version = driver->version;
  std::vector<unsigned> asked;
  for (unsigned index = 0; index < driver->gpus; ++index)
    if (!skip.contains(index)) asked.push_back(index);
  const auto looks = library.ask_each<GpuReading>(
      asked.size(), [asked, known](nvml::Nvml& inside, std::size_t i, GpuReading& reading) {
        return Reader(inside).read(asked[i], known, reading);
      });
  auto next = looks.begin();
  for (unsigned index = 0; index < driver->gpus; ++index) {
    const nvml::Answer<GpuReading> reading = skip.contains(index) ? nvml::Answer<GpuReading>(nvml::kGaveUp) : *next++;
    if (!reading) {
      inventory.silent.push_back({index, reading.code(), nvml::error_text(reading.code())});
    } else if (drives_a_display(reading->gpu.product)) {
      inventory.displays.push_back(reading->gpu.address);
    } else {
      inventory.gpus.push_back(reading->gpu);
      inventory.gpus.back().numa_node = numa_node_of(host, reading->gpu.address);
      inventory.handles[reading->gpu.uuid] = reading->handle;
      if (reading->recovery_action) inventory.recovery_actions[reading->gpu.uuid] = *reading->recovery_action;
    }
  }
  add_paths(host, known, inventory.gpus);
  return inventory;
}

void place_on_bus(const Host& host, nvidia::GpuBus& bus, Inventory& inventory) {
  std::vector<nvidia::AnsweringGpu> answering;
  for (const std::string& address : inventory.displays) answering.push_back({.address = address, .product = {}});
  for (const Gpu& gpu : inventory.gpus) answering.push_back({.address = gpu.address, .product = gpu.product});
  bus.look(host, answering, inventory.driver_version);
  for (Gpu& gpu : inventory.gpus) gpu.place = bus.place_of(gpu.address);
  inventory.absent = bus.absent(answering);
  if (!bus.gpus().empty()) return;
  for (const SilentGpu& silent : inventory.silent)  // NVML's indexes include a silent GPU
    inventory.absent.push_back({.number = silent.index, .address = {}, .product = {}});
}

void apply_managers(const nvidia::GpuManagers& managers, std::vector<Gpu>& gpus) {
  for (Gpu& gpu : gpus) gpu.offered = managers.manager_of(gpu.address, gpu.uuid) == nvidia::kDevicePlugin;
}

}  // namespace slipway::deviceplugin
