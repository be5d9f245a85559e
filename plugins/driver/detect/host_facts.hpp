// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/host_facts.hpp - what detect() looks at, and its way through Facts to plan().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/host.hpp>

#include "driver/detect/existing_driver.hpp"
#include "driver/detect/fabric_manager.hpp"
#include "driver/detect/kernel_choice.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/detect/modprobe_config.hpp"
#include "driver/detect/receipt.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/loaded_driver.hpp"

namespace slipway::driver {

/// One kernel, for those who give it modules.
struct KernelFacts {
  std::string release;  ///< empty when it could not be told
  std::optional<KernelHeaders> headers;
  std::string module_compression;
  std::string vermagic;  ///< of the kernel's own modules; empty: not known
  std::string compiler;  ///< path of the headers' compiler in the root; empty: not there
  Initramfs initramfs;
};

struct HostFacts {
  // Hardware; empty without a kernel's view.
  bool kernel_view = false;
  std::vector<nvidia::Gpu> gpus;
  std::vector<std::string> nvswitches;  ///< PCI addresses
  bool nvlink5_switches = false;
  std::optional<FabricManager> fabric_manager;  ///< looked for where there are NVSwitches
  std::vector<unsigned> gpu_minors;             ///< as the loaded driver gave them
  std::optional<nvidia::LoadedDriver> loaded;
  std::string kernel_drivers;  ///< the kernel's own that are loaded: "nouveau", "nova_core, nova"
  bool enforces_signatures = false;
  std::optional<bool> secure_boot;
  // The kernels that are planned for.
  KernelFacts kernel;                        ///< the target
  std::vector<KernelFacts> further_kernels;  ///< besides the target, the newest first
  bool kernels_chosen = false;  ///< by the spec's `kernels` or several --kernel; the target is their newest
  Json kernel_problem;          ///< why there is none although they were chosen: an error object, or null
  std::vector<std::string> several_kernels;  ///< of a root that has several, where nobody has chosen one
  std::string running_kernel;                ///< where --kernel or the spec names kernels, and one runs
  bool has_make = false;
  // The root.
  std::string os;
  std::string os_family;  ///< ID and ID_LIKE, for hints: "debian", "rhel fedora"
  std::string lib_folder;
  std::string public_libdir;
  std::vector<ExistingDriver> existing;
  std::optional<Receipt> installed;
  std::vector<ModprobeLine> modprobe;  ///< the site's, about the driver's modules
  ParameterValues loaded_parameters;   ///< of those that the spec sets, what the loaded modules show

  /// GPUs that an NVIDIA driver may take: not those handed to virtual machines.
  std::vector<nvidia::Gpu> usable_gpus() const;
  /// Of the kernels that are planned for, the target first.
  std::vector<std::string> kernel_releases() const;
  /// There is a kernel to look at, and it shows no GPU for us.
  bool no_gpu_here() const { return kernel_view && usable_gpus().empty(); }
};

/// @param parameters  whose values in the loaded modules are looked at
HostFacts read_host_facts(const Host& host, const KernelChoice& choice = {}, const ParameterValues& parameters = {});
Facts to_facts(const HostFacts& facts);
HostFacts host_facts_from(const Facts& facts);

}  // namespace slipway::driver
