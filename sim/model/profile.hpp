// SPDX-License-Identifier: Apache-2.0
// sim/model/profile.hpp - reads the YAML profile of a simulated machine: its devices, and the output of its kernel.
//
// The format is documented in sim/README.md. A profile says only what is known of the real machine: a value that
// is missing is shown as the kernel shows an unknown one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::sim {

/// One PCI function of a simulated machine.
struct SimPciFunction {
  std::string role;          ///< "gpu", "nvswitch" or "other"
  std::string model;         ///< NVML's marketing name; empty: unknown
  std::string address;       ///< "0000:1b:00.0"
  std::uint16_t vendor = 0;  ///< PCI ids as in sysfs
  std::uint16_t device = 0;
  std::uint32_t device_class = 0;  ///< 24 bits: base class, subclass, interface
  std::optional<std::uint16_t> subsystem_vendor;
  std::optional<std::uint16_t> subsystem_device;
  std::optional<unsigned> numa_node;    ///< empty: the kernel does not know it (sysfs has -1)
  std::optional<unsigned> pcie_switch;  ///< functions with the same number are at one PCIe switch
};

/// NVLinks that directly connect two GPUs of the machine.
struct SimLinks {
  unsigned first = 0;  ///< indexes of the GPUs in address order
  unsigned second = 0;
  unsigned count = 1;
};

/// A kernel module that is loaded before slipway runs.
struct SimModule {
  std::string name;              ///< as in /proc/modules: with '_'
  std::string version;           ///< text of /sys/module/NAME/version; empty: the module has none
  std::uint64_t size_bytes = 0;  ///< second field of /proc/modules
};

struct SimProfile {
  std::string name;
  std::string about;                ///< one sentence for lists
  std::string arch;                 ///< in the form of `uname -m`
  std::string kernel_release;       ///< of the machine's running kernel
  std::optional<bool> secure_boot;  ///< empty: the machine has no EFI
  std::vector<SimPciFunction> pci;  ///< in address order
  std::vector<SimModule> modules;
  std::vector<std::pair<unsigned, std::string>> character_majors;  ///< in addition to those of every kernel
  std::map<std::string, std::string> files;                        ///< further ones below /sys, /proc and /dev, by path
  std::map<std::string, std::string> file_links;                   ///< likewise, by path: the link's target
  std::map<std::string, std::pair<unsigned, unsigned>> nodes;      ///< character devices below /dev, by path
  std::string product;                                             ///< the machine's DMI product name; empty: unknown
  std::string driver_version;                                      ///< of the simulated NVML
  unsigned cuda_version = 0;                                       ///< 1000 * major + 10 * minor
  std::string costs;          ///< file in the folder costs for the setting costs=on; empty: the costs are unknown
  bool direct_links = false;  ///< `links` lists the NVLinks; else all of them go to NVSwitches
  std::vector<SimLinks> links;
  std::string fabric_cluster;  ///< UUID of the NVLink fabric of several nodes; empty: none
  unsigned fabric_clique = 0;  ///< number of the machine's clique in the fabric
  std::vector<std::pair<std::string, std::string>> settings;  ///< of "PROFILE,KEY=VALUE,…"
  std::string text;                                           ///< text of the file
};

/// Reads a profile.
/// @param name_or_file  a path (it has a '/' or ends in ".yaml"), the name of a profile in `folders`, or such a name
///                      with a smaller count: "h100x2" is h100x8 with its first two GPUs and without NVSwitches; then
///                      settings of the simulated driver, if any: "h100x8,driver=535.261.03,mig=1g.10gb"
/// @param folders       searched in order for NAME.yaml
/// Errors: `not_found`, with the existing profiles; `invalid`, with file:line:column and the expected value.
Result<SimProfile> read_sim_profile(const std::string& name_or_file, const std::vector<std::string>& folders);

/// Returns the existing folders with slipway's own profiles: ../share/slipway/sim beside the running program's folder,
/// the compiled-in installation folder, and the source tree's.
std::vector<std::string> sim_profile_folders();

/// Returns the names of all profiles in the folders, sorted, each once.
std::vector<std::string> sim_profile_names(const std::vector<std::string>& folders);

}  // namespace slipway::sim
