// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/snapshot.hpp"

#include <charconv>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "gfd/labels/fabric.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/gpu_bus.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::gfd {
namespace {

namespace nvml = nvidia::nvml;

constexpr unsigned kMibShift = 20;

/// Properties that GPUs of one name share. They are copied, because a hanging call must not keep them from other GPUs.
class KnownModels {
 public:
  nvml::KnownProfiles of(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return models_[name];
  }
  void learn(const std::string& name, nvml::KnownProfiles known) {
    const std::scoped_lock lock(mutex_);
    models_[name] = std::move(known);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, nvml::KnownProfiles> models_;
};

// True for a display adapter of the workstation itself, which upstream does not count either.
bool left_out(const std::string& name) { return name == "DGX Display" || name == "NVIDIA DGX Display"; }

std::optional<std::uint32_t> class_of(const Host& host, const std::string& address) {
  const std::string text = host.attribute("/sys/bus/pci/devices/" + address + "/class");
  std::uint32_t value = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return problem == std::errc{} ? std::optional(value) : std::nullopt;
}

/// The answers of a GPU; read on the call thread.
struct GpuAnswer {
  Gpu gpu;
  bool display = false;  ///< a display adapter, which has no labels
  Status status;
};

Status read_identity(nvml::Nvml& inside, nvmlDevice_t device, Gpu& gpu) {
  if (const auto place = nvml::device_pci(inside, device)) gpu.address = place->address;
  gpu.uuid = nvml::device_uuid(inside, device).value_or("");
  const auto capability = nvml::compute_capability(inside, device);
  if (!capability && !capability.absent()) return capability.error(nvidia::gpu_label(gpu.index, gpu.address));
  gpu.compute_major = capability.value_or({}).major;
  gpu.compute_minor = capability.value_or({}).minor;
  if (const auto total = nvml::memory_total(inside, device)) {
    gpu.memory_mib = *total >> kMibShift;
  } else if (total.code() == NVML_ERROR_GPU_IS_LOST) {
    return total.error(nvidia::gpu_label(gpu.index, gpu.address));
  }
  return {};
}

Status read_fabric(nvml::Nvml& inside, nvmlDevice_t device, Gpu& gpu) {
  const auto fabric = gfd::fabric(inside, device);
  if (!fabric && !fabric.absent()) return fabric.error(nvidia::gpu_label(gpu.index, gpu.address));
  if (fabric && fabric->attached()) gpu.clique = fmt::format("{}.{}", fabric->cluster_uuid(), fabric->clique);
  return {};
}

Status read_mig(nvml::Nvml& inside, nvmlDevice_t device, KnownModels& models, Gpu& gpu) {
  const auto mode = nvml::mig_mode(inside, device);
  if (!mode && !mode.absent()) return mode.error(nvidia::gpu_label(gpu.index, gpu.address));
  gpu.mig_capable = mode.ok();
  gpu.mig_enabled = mode.ok() && mode->current;
  if (!gpu.mig_enabled) return {};
  nvml::KnownProfiles known = models.of(gpu.name);
  SLIPWAY_TRY(devices, read_mig_devices(inside, device, nvidia::gpu_label(gpu.index, gpu.address), known));
  models.learn(gpu.name, std::move(known));
  gpu.mig = std::move(devices);
  return {};
}

Status read_gpu(nvml::Nvml& inside, KnownModels& models, GpuAnswer& answer) {
  Gpu& gpu = answer.gpu;
  const auto device = nvml::device_at(inside, gpu.index);
  if (!device) return device.error(nvidia::gpu_label(gpu.index, gpu.address));
  const auto name = nvml::device_name(inside, *device);
  if (!name) return name.error(nvidia::gpu_label(gpu.index, gpu.address));
  gpu.name = *name;
  answer.display = left_out(gpu.name);
  if (answer.display) {
    if (const auto pci = nvml::device_pci(inside, *device)) gpu.address = pci->address;
    return {};
  }
  SLIPWAY_CHECK(read_identity(inside, *device, gpu));
  SLIPWAY_CHECK(read_mig(inside, *device, models, gpu));
  return read_fabric(inside, *device, gpu);
}

/// Reads the GPUs one after the other, in index order.
std::vector<nvml::Answer<GpuAnswer>> read_gpus(nvml::Nvml& library, unsigned count) {
  return library.ask_each<GpuAnswer>(
      count, [models = std::make_shared<KnownModels>()](nvml::Nvml& inside, std::size_t i, GpuAnswer& answer) {
        answer.gpu.index = static_cast<unsigned>(i);
        answer.status = read_gpu(inside, *models, answer);
        return NVML_SUCCESS;
      });
}

struct Driver {
  std::string version;
  int cuda = 0;
  unsigned gpus = 0;
  const char* asked = "the driver's version";
};

nvml::Answer<Driver> read_driver(nvml::Nvml& library) {
  return library.ask_together<Driver>([](nvml::Nvml& inside, Driver& driver) {
    const auto version = nvml::driver_version(inside);
    if (!version) return version.code();
    driver.version = *version;
    driver.asked = "the CUDA version";
    const auto cuda = nvml::cuda_version(inside);
    if (!cuda) return cuda.code();
    driver.cuda = *cuda;
    driver.asked = "the number of GPUs";
    const auto count = nvml::device_count(inside);
    driver.gpus = count.value_or(0);
    return count.code();
  });
}

/// @param answering  the display adapters, which answer but have no labels
void find_places(const Host& host, std::vector<nvidia::AnsweringGpu> answering, Snapshot& snapshot) {
  for (const Gpu& gpu : snapshot.gpus) answering.push_back({.address = gpu.address, .product = gpu.name});
  nvidia::GpuBus bus;
  bus.look(host, answering, snapshot.driver_version);
  for (Gpu& gpu : snapshot.gpus) gpu.place = bus.place_of(gpu.address);
  snapshot.absent = bus.absent(answering);
}

}  // namespace

Result<Snapshot> take_snapshot(nvml::Nvml& library, const Host& host, bool with_places) {
  const auto driver = read_driver(library);
  if (!driver) return driver.error(driver->asked);
  Snapshot snapshot;
  snapshot.driver_version = driver->version;
  snapshot.cuda_major = static_cast<unsigned>(driver->cuda) / 1000;
  snapshot.cuda_minor = static_cast<unsigned>(driver->cuda) % 1000 / 10;
  std::optional<Error> first;
  std::vector<nvidia::AnsweringGpu> displays;
  unsigned index = 0;
  for (const auto& answer : read_gpus(library, driver->gpus)) {
    const std::string label = nvidia::gpu_label(index++, {});
    if (!answer || !answer->status) {
      Error error = answer ? answer->status.error() : answer.error(label);
      snapshot.unreachable.push_back(error);
      if (!first) first = std::move(error);
    } else if (!answer->display) {
      snapshot.gpus.push_back(answer->gpu);
      if (!answer->gpu.address.empty()) snapshot.gpus.back().device_class = class_of(host, answer->gpu.address);
    } else if (!answer->gpu.address.empty()) {
      displays.push_back({.address = answer->gpu.address, .product = {}});
    }
  }
  // Unloading the driver removes all GPUs, including those that have answered.
  if (first && (snapshot.gpus.empty() || !nvml::device_count(library))) return *std::move(first);
  if (with_places) find_places(host, std::move(displays), snapshot);
  return snapshot;
}

}  // namespace slipway::gfd
