// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/inventory.hpp - the GPUs and MIG devices of this machine, and their nearness to each
// other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/gpu.hpp"
#include "nvidia/gpu_managers.hpp"
#include "nvidia/machine/gpu_bus.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::deviceplugin {

struct MigDevice {
  std::string uuid;    ///< "MIG-…"
  unsigned index = 0;  ///< below its GPU
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  std::string profile;         ///< "1g.10gb", "1c.3g.40gb", "1g.10gb+me"
  bool whole_instance = true;  ///< it has as many compute slices as GPU slices
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> paths;  ///< its capability nodes
  bool operator==(const MigDevice&) const = default;
};

struct Gpu {
  std::string uuid;  ///< "GPU-…"
  unsigned index = 0;
  unsigned minor = 0;   ///< the N of /dev/nvidiaN
  std::string address;  ///< "0000:65:00.0"
  std::string product;
  std::optional<int> numa_node;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0;
  int compute_minor = 0;
  bool mig_enabled = false;
  std::vector<MigDevice> mig_devices;
  bool offered = true;            ///< false: another program manages it (nvidia/gpu_managers.hpp)
  std::optional<unsigned> place;  ///< among all GPUs on the PCI bus, lost ones too; empty: the bus is not visible
  bool operator==(const Gpu&) const = default;

  std::string path() const { return "/dev/nvidia" + std::to_string(minor); }
  /// The number that a config uses for it.
  unsigned number() const { return place.value_or(index); }
  std::string label() const { return nvidia::gpu_label(index, address); }
};

/// The nearness of GPU i and GPU j: a higher value means a faster connection. Symmetric; 0: not known.
class Nearness {
 public:
  Nearness() = default;
  explicit Nearness(std::size_t gpus) : size_(gpus), scores_(gpus * gpus, 0) {}
  std::size_t size() const { return size_; }
  unsigned of(std::size_t i, std::size_t j) const { return i < size_ && j < size_ ? scores_[i * size_ + j] : 0; }
  void set(std::size_t i, std::size_t j, unsigned score) { scores_[i * size_ + j] = scores_[j * size_ + i] = score; }
  bool operator==(const Nearness&) const = default;

 private:
  std::size_t size_ = 0;
  std::vector<unsigned> scores_;
};

/// A GPU that exists but does not answer.
struct SilentGpu {
  unsigned index = 0;
  nvmlReturn_t code = NVML_SUCCESS;  ///< nvml::kGaveUp: it hangs
  std::string why;                   ///< in words
  bool operator==(const SilentGpu&) const = default;
};

using nvidia::AbsentGpu;

struct Inventory {
  std::string driver_version;
  std::vector<Gpu> gpus;  ///< those that answered, in index order
  std::vector<SilentGpu> silent;
  std::map<std::string, nvmlDevice_t> handles;       ///< by UUID, for those that answered
  std::map<std::string, unsigned> recovery_actions;  ///< likewise; no entry: this driver never reports it
  std::vector<std::string> displays;                 ///< addresses of display GPUs, which are not offered
  std::vector<AbsentGpu> absent = {};                ///< after place_on_bus(), by number
  bool operator==(const Inventory&) const = default;
};

/// Reads GPU by GPU: one that does not answer is listed in `silent`, and the others are still read. Display GPUs are
/// left out.
/// @param skip   indexes that are not read, because a call about them still hangs; they are listed in `silent`
/// @param known  from an earlier look; unchanged MIG devices are only compared. Only when there is a new
///               one is /proc/driver/nvidia-caps/mig-minors read, which has thousands of lines. Pass none after
///               the driver was loaded, or after it reported a change of MIG
/// Errors: NVML's, when the driver itself cannot be asked.
Result<Inventory> read_inventory(nvidia::nvml::Nvml& nvml, const Host& host, const std::set<unsigned>& skip = {},
                                 const std::vector<Gpu>& known = {});

/// Gives each GPU its position on the PCI bus, and finds those that the driver does not show.
void place_on_bus(const Host& host, nvidia::GpuBus& bus, Inventory& inventory);

/// Reads NVLinks, NVSwitches and the PCI tree between all pairs. A pair that cannot be read counts as distant.
Nearness read_nearness(nvidia::nvml::Nvml& nvml, const std::vector<Gpu>& gpus);

/// Sets Gpu::offered: true only for GPUs that the device plugin manages.
void apply_managers(const nvidia::GpuManagers& managers, std::vector<Gpu>& gpus);

/// Minor numbers of capability nodes by name: "gpu0/gi1/ci0/access" -> 12.
using MigMinors = std::map<std::string, unsigned>;

/// Leaves out devices that disappear while they are read. Devices that are not among the known ones have no paths yet.
nvidia::nvml::Answer<std::vector<MigDevice>> read_mig_devices(nvidia::nvml::Nvml& nvml, nvmlDevice_t handle,
                                                              const Gpu& gpu, const std::vector<MigDevice>& known);
/// /dev/nvidia-caps/nvidia-capN of the GPU instance and of the compute instance.
std::vector<std::string> capability_nodes(const MigDevice& device, unsigned minor, const MigMinors& minors);

/// Read /proc/driver/nvidia-caps/mig-minors; without the file the map is empty.
MigMinors read_mig_minors(const Host& host);
MigMinors parse_mig_minors(std::string_view text);

}  // namespace slipway::deviceplugin
