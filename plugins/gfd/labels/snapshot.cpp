// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/snapshot.hpp"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "nvidia/machine/gpu_bus.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/fabric.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::gfd {
namespace {

namespace nvml = nvidia::nvml;

constexpr unsigned kMibShift = 20;

/// What GPUs of one name have in common.
using KnownModels = std::map<std::string, nvml::KnownProfiles>;

// A display adapter for the workstation itself, which upstream does not count either.
bool left_out(const std::string& name) { return name == "DGX Display" || name == "NVIDIA DGX Display"; }

std::string gpu_label(unsigned index, const Gpu& gpu) {
  return gpu.address.empty() ? fmt::format("GPU {}", index) : fmt::format("GPU {} ({})", index, gpu.address);
}

std::optional<std::uint32_t> class_of(const Host& host, const std::string& address) {
  const std::string text = host.attribute("/sys/bus/pci/devices/" + address + "/class");
  std::uint32_t value = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return problem == std::errc{} ? std::optional(value) : std::nullopt;
}

Status read_identity(nvml::Nvml& library, nvmlDevice_t device, const Host& host, Gpu& gpu) {
  if (const auto place = nvml::device_pci(library, device)) gpu.address = place->address;
  if (!gpu.address.empty()) gpu.device_class = class_of(host, gpu.address);
  gpu.uuid = nvml::device_uuid(library, device).value_or("");
  const auto capability = nvml::compute_capability(library, device);
  if (!capability && !capability.absent()) return capability.error(gpu_label(gpu.index, gpu));
  gpu.compute_major = capability.value_or({}).major;
  gpu.compute_minor = capability.value_or({}).minor;
  if (const auto total = nvml::memory_total(library, device)) {
    gpu.memory_mib = *total >> kMibShift;
  } else if (total.code() == NVML_ERROR_GPU_IS_LOST || total.code() == nvml::kGaveUp) {
    return total.error(gpu_label(gpu.index, gpu));
  }
  return {};
}

Status read_fabric(nvml::Nvml& library, nvmlDevice_t device, Gpu& gpu) {
  const auto fabric = nvml::fabric(library, device);
  if (!fabric && !fabric.absent()) return fabric.error(gpu_label(gpu.index, gpu));
  if (fabric && fabric->attached()) gpu.clique = fmt::format("{}.{}", fabric->cluster_uuid(), fabric->clique);
  return {};
}

Status read_mig(nvml::Nvml& library, nvmlDevice_t device, KnownModels& models, Gpu& gpu) {
  const auto mode = nvml::mig_mode(library, device);
  if (!mode && !mode.absent()) return mode.error(gpu_label(gpu.index, gpu));
  gpu.mig_capable = mode.ok();
  gpu.mig_enabled = mode.ok() && mode->current;
  if (!gpu.mig_enabled) return {};
  SLIPWAY_TRY(devices, read_mig_devices(library, device, gpu_label(gpu.index, gpu), models[gpu.name]));
  gpu.mig = std::move(devices);
  return {};
}

/// Nothing of a display adapter, which is noted.
Result<std::optional<Gpu>> read_gpu(nvml::Nvml& library, unsigned index, const Host& host, KnownModels& models,
                                    std::vector<nvidia::AnsweringGpu>& displays) {
  Gpu gpu{.index = index};
  const auto device = nvml::device_at(library, index);
  if (!device) return device.error(gpu_label(index, gpu));
  const auto name = nvml::device_name(library, *device);
  if (!name) return name.error(gpu_label(index, gpu));
  gpu.name = *name;
  if (left_out(gpu.name)) {
    if (const auto pci = nvml::device_pci(library, *device))
      displays.push_back({.address = pci->address, .product = {}});
    return std::optional<Gpu>();
  }
  SLIPWAY_CHECK(read_identity(library, *device, host, gpu));
  SLIPWAY_CHECK(read_mig(library, *device, models, gpu));
  SLIPWAY_CHECK(read_fabric(library, *device, gpu));
  return std::optional(std::move(gpu));
}

/// @param answering  the display adapters, which are left out
void find_places(const Host& host, std::vector<nvidia::AnsweringGpu> answering, Snapshot& snapshot) {
  for (const Gpu& gpu : snapshot.gpus) answering.push_back({.address = gpu.address, .product = gpu.name});
  nvidia::GpuBus bus;
  bus.look(host, answering, snapshot.driver_version);
  for (Gpu& gpu : snapshot.gpus) gpu.place = bus.place_of(gpu.address);
  snapshot.absent = bus.absent(answering);
}

}  // namespace

Result<Snapshot> take_snapshot(nvml::Nvml& library, const Host& host, bool with_places) {
  Snapshot snapshot;
  const auto version = nvml::driver_version(library);
  if (!version) return version.error("the driver's version");
  snapshot.driver_version = *version;
  const auto cuda = nvml::cuda_version(library);
  if (!cuda) return cuda.error("the CUDA version");
  snapshot.cuda_major = static_cast<unsigned>(*cuda) / 1000;
  snapshot.cuda_minor = static_cast<unsigned>(*cuda) % 1000 / 10;
  const auto count = nvml::device_count(library);
  if (!count) return count.error("the number of GPUs");
  std::optional<Error> first;
  KnownModels models;
  std::vector<nvidia::AnsweringGpu> displays;
  for (unsigned index = 0; index < *count; ++index) {
    auto gpu = read_gpu(library, index, host, models, displays);
    if (gpu && *gpu) snapshot.gpus.push_back(*std::move(*gpu));
    if (gpu) continue;
    if (!first) first = gpu.error();
    snapshot.unreachable.push_back(gpu.error().what);
  }
  // A driver that is unloaded takes all GPUs along, whichever was asked last.
  if (first && (snapshot.gpus.empty() || !nvml::device_count(library))) return *std::move(first);
  if (with_places) find_places(host, std::move(displays), snapshot);
  return snapshot;
}

}  // namespace slipway::gfd
