// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpu.hpp - NVIDIA's PCI functions: which are GPUs or NVSwitches, of what architecture and product.
//
// Ids are from the PCI ID database (pci.ids) and the table of the open kernel modules' README.
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
  newer,    ///< a device id above all that the table knows
  unknown,  ///< a device id in a gap of the table
};

std::string_view to_string(Architecture architecture);
std::optional<Architecture> parse_architecture(std::string_view text);

/// By ranges of PCI device ids; makes no difference between GPUs and other functions of the same chip.
Architecture architecture_of(std::uint16_t device_id);
/// Compute capability by the same ranges, "9.0"; empty: not known.
std::string compute_capability_of(std::uint16_t device_id);

/// What an architecture asks of a driver.
struct ArchitectureSupport {
  unsigned first_branch = 0;       ///< the first driver branch that knows it; 0: not known to us
  unsigned last_branch = 0;        ///< the last that still supports it; 0: no end so far
  unsigned first_open_branch = 0;  ///< the first whose open modules support it; 0: none does
  bool requires_open = false;      ///< the proprietary modules do not support it
};
ArchitectureSupport support_of(Architecture architecture);

/// Domain, bus and device of a PCI address in the one form that all are compared in: "0000:0f:00" for NVML's
/// "00000000:0F:00.0", the kernel's "0000:0f:00" and a person's "0f:00.0".
std::string pci_place(std::string_view address);

/// "GPU 3 (0000:65:00.0)"; "GPU 3" where the address is not known. @param index  NVML's, or its place on the bus
std::string gpu_label(unsigned index, std::string_view address);

/// A GPU as far as drivers care: from the PCI bus, or from a name in a spec.
struct Gpu {
  std::string address;                  ///< "0000:65:00.0"; empty when it stands only in a spec
  std::optional<std::uint16_t> device;  ///< PCI device id; empty when only the architecture was named
  std::string name;                     ///< product, else "GPU 10de:2342", else the architecture's name
  Architecture architecture = Architecture::unknown;
  bool requires_open = false;  ///< of the product or its architecture (Grace Hopper, Blackwell)
  std::string driver;          ///< bound kernel driver; empty: none
};

/// The exclusive that a change of this GPU takes: "gpu-9cffd1a2-…" for NVML's "GPU-9cffd1a2-…".
std::string exclusive_of(std::string_view uuid);

/// VGA (0300), 3D (0302) and display (0380) functions of NVIDIA.
bool is_gpu(const slipway::PciDevice& device);
/// Those on the PCI bus that NVML ought to show, in bus order: not those of another driver (vfio-pci, nouveau), virtual
/// functions (SR-IOV), nor those that the driver was told to leave alone (NVreg_ExcludedGpus).
std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host);
/// The same, where NVML shows some already: no file of the driver's is read about these. @param shown  their
/// pci_place()
std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host, const std::set<std::string>& shown);
/// How many are on the PCI bus.
std::size_t count_gpus(const Host& host);

/// What a component that is for GPUs alone detects where no GPU is seen: with `hardware: detect` it is not applicable,
/// with `require` its only fact is "problem", the error that plan() returns. Nothing: go on, there is one or one is
/// assumed.
std::optional<Facts> facts_without_gpu(const Host& host);
Gpu gpu_from_pci(const slipway::PciDevice& device);

/// Short product name ("H100-SXM"); empty when the table has none for it.
std::string product_name(std::uint16_t device_id);

/// A product ("H100-SXM", "h100", "RTX PRO 6000"), a PCI id ("2330", "10de:2330") or an architecture ("hopper").
/// Case, spaces and dashes do not matter; a family name ("H100") stands for all of its boards.
std::optional<Gpu> gpu_from_text(std::string_view text);

/// Every product and architecture name that gpu_from_text() takes, for messages and completion.
std::vector<std::string> known_gpu_names();

enum class NvSwitch { lr10, ls10 };  ///< A100 systems (NVLink 3), H100 systems (NVLink 4)

/// The switch's management function (class 0680, vendor 10de). Its bridge functions are not counted: a switch shows up
/// once. NVLink 5 switches are no 10de devices, see is_nvlink5_switch_vpd().
std::optional<NvSwitch> nvswitch_of(const slipway::PciDevice& device);

/// NVLink 5 switches (Blackwell systems) are Mellanox functions whose vital product data names the switch manager.
bool is_nvlink5_switch_vpd(std::string_view vpd);

}  // namespace slipway::nvidia
