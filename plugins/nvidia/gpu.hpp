// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpu.hpp - NVIDIA's PCI functions: the GPUs and NVSwitches among them, their architecture and product.
//
// The ids are data: gpus/gpus.yaml, which is compiled in. gpus/gpu_table.hpp also knows the files that renew it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/host.hpp>

namespace slipway::nvidia {

inline constexpr std::uint16_t kVendor = 0x10de;
inline constexpr std::uint16_t kMellanoxVendor = 0x15b3;

enum class Architecture {
  fermi_or_older,
  kepler,
  maxwell,
  pascal,
  volta,
  turing,
  ampere,
  ada,
  hopper,
  blackwell,
  rubin,
  newer,    ///< a device id above all ids in the table, or an architecture that only a site's table names
  unknown,  ///< a device id in a gap of the table
};

std::string_view to_string(Architecture architecture);
std::optional<Architecture> parse_architecture(std::string_view text);

/// Uses ranges of PCI device ids; does not distinguish GPUs from other functions of the same chip.
Architecture architecture_of(std::uint16_t device_id);
/// Compute capability by the same ranges, "9.0"; empty: unknown.
std::string compute_capability_of(std::uint16_t device_id);

/// The driver branches that support an architecture.
struct ArchitectureSupport {
  unsigned first_branch = 0;       ///< the first driver branch that supports it; 0: unknown
  unsigned last_branch = 0;        ///< the last that still supports it; 0: no end so far
  unsigned first_open_branch = 0;  ///< the first branch whose open modules support it; 0: none
  bool requires_open = false;      ///< the proprietary modules do not support it
  bool known = true;               ///< false: the table does not name it

  bool operator==(const ArchitectureSupport&) const = default;
};
ArchitectureSupport support_of(Architecture architecture);

/// Returns domain, bus and device of a PCI address in one comparable form: "0000:0f:00" for NVML's "00000000:0F:00.0",
/// the kernel's "0000:0f:00" and a user's "0f:00.0".
std::string pci_place(std::string_view address);

/// "GPU 3 (0000:65:00.0)"; "GPU 3" where the address is not known. @param index  NVML's, or its place on the bus
std::string gpu_label(unsigned index, std::string_view address);

/// The properties of a GPU that drivers depend on: from the PCI bus, or from a name in a spec.
struct Gpu {
  std::string address;                  ///< "0000:65:00.0"; empty when it is only in a spec
  std::optional<std::uint16_t> device;  ///< PCI device id; empty when only the architecture is given
  std::string name;                     ///< product, else "GPU 10de:2342", else the architecture's name
  Architecture architecture = Architecture::unknown;
  std::string architecture_name;  ///< "hopper"; of a site's table if that names another one
  ArchitectureSupport support;    ///< of the product or its architecture
  std::string compute;            ///< compute capability, "9.0"; empty: unknown
  std::string driver;             ///< bound kernel driver; empty: none
};

/// Returns the name of the lock for changes of this GPU: "gpu-9cffd1a2-…" for NVML's "GPU-9cffd1a2-…".
std::string exclusive_of(std::string_view uuid);

/// True for NVIDIA's VGA (0300), 3D (0302) and display (0380) functions.
bool is_gpu(const slipway::PciDevice& device);
/// Returns the GPUs on the PCI bus that NVML should show, in bus order: without those of another driver (vfio-pci,
/// nouveau), virtual functions (SR-IOV), and those that the driver is configured to exclude (NVreg_ExcludedGpus).
std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host);
/// The same when NVML shows some GPUs already: does not read the driver's files about those. @param shown  their
/// pci_place()
std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host, const std::set<std::string>& shown);
/// Returns the number of NVIDIA's GPUs on the PCI bus.
std::size_t count_gpus(const Host& host);

/// Returns the facts of a GPU component on a machine without a GPU: with `hardware: detect` it is not applicable, with
/// `require` its only fact is "problem", the error that plan() returns. Empty: continue, there is a GPU or one is
/// assumed.
std::optional<Facts> facts_without_gpu(const Host& host);

enum class NvSwitch { lr10, ls10 };  ///< A100 systems (NVLink 3), H100 systems (NVLink 4)

/// Recognizes the switch's management function (class 0680, vendor 10de). Its bridge functions do not count, so that a
/// switch appears once. NVLink 5 switches do not have vendor 10de, see is_nvlink5_switch_vpd().
std::optional<NvSwitch> nvswitch_of(const slipway::PciDevice& device);

/// NVLink 5 switches (Blackwell systems) are Mellanox functions whose vital product data names the switch manager.
bool is_nvlink5_switch_vpd(std::string_view vpd);

}  // namespace slipway::nvidia
