// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/inventory.hpp"

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

/// sysfs says -1 where the kernel does not know.
std::optional<int> numa_node_of(const Host& host, const std::string& address) {
  const std::string text = host.attribute("/sys/bus/pci/devices/" + address + "/numa_node");
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(text);
}

/// Reads one GPU, and asks it nothing more once an answer says that it cannot.
class Reader {
 public:
  Reader(nvml::Nvml& library, const MigMinors& minors) : library_(library), minors_(minors) {}

  nvmlReturn_t read(unsigned index, Gpu& gpu) {
    gpu.index = index;
    const nvmlDevice_t handle = need(nvml::device_at(library_, index));
    if (good()) gpu.uuid = need(nvml::device_uuid(library_, handle));
    if (good()) gpu.minor = need(nvml::device_minor(library_, handle));
    if (good()) gpu.address = need(nvml::device_pci(library_, handle)).address;
    if (good()) gpu.product = want(nvml::device_name(library_, handle));
    if (good()) gpu.memory_bytes = want(nvml::memory_total(library_, handle));  // some share the CPU's, and have none
    if (good()) read_capability(handle, gpu);
    if (good()) gpu.mig_enabled = want(nvml::mig_mode(library_, handle)).current;
    if (good() && gpu.mig_enabled) gpu.mig_devices = need(read_mig_devices(library_, handle, gpu, minors_));
    return problem_;
  }

 private:
  bool good() const { return problem_ == NVML_SUCCESS; }
  template <class T>
  T need(const nvml::Answer<T>& answer) {
    problem_ = answer.code();
    return answer.value();
  }
  /// What a healthy GPU may also not have.
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
  const MigMinors& minors_;
  nvmlReturn_t problem_ = NVML_SUCCESS;
};

nvml::Answer<Gpu> read_gpu(nvml::Nvml& library, unsigned index, const MigMinors& minors) {
  return library.ask_together<Gpu>(
      [index, minors](nvml::Nvml& inside, Gpu& gpu) { return Reader(inside, minors).read(index, gpu); });
}

bool drives_a_display(const std::string& product) {
  return product == "DGX Display" || product == "NVIDIA DGX Display";
}

}  // namespace

Result<Inventory> read_inventory(nvml::Nvml& library, const Host& host, const std::set<unsigned>& skip) {
  Inventory inventory;
  const auto version = nvml::driver_version(library);
  if (!version) return version.error("read the driver's version");
  inventory.driver_version = *version;
  const auto count = nvml::device_count(library);
  if (!count) return count.error("count the GPUs");
  const MigMinors minors = read_mig_minors(host);
  for (unsigned index = 0; index < *count; ++index) {
    const auto answer = skip.contains(index) ? nvml::kGaveUp : read_gpu(library, index, minors);
    if (!answer) {
      inventory.silent.push_back({index, answer.code(), nvml::error_text(answer.code())});
    } else if (!drives_a_display(answer->product)) {
      inventory.gpus.push_back(*answer);
      inventory.gpus.back().numa_node = numa_node_of(host, answer->address);
    }
  }
  return inventory;
}

void apply_managers(const nvidia::GpuManagers& managers, std::vector<Gpu>& gpus) {
  for (Gpu& gpu : gpus) gpu.offered = managers.manager_of(gpu.address, gpu.uuid) == nvidia::kDevicePlugin;
}

}  // namespace slipway::deviceplugin
