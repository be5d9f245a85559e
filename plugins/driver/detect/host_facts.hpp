// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/host_facts.hpp - the facts that detect() collects, and their way through Facts to plan().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/host.hpp>

#include "driver/boot/boot_default.hpp"
#include "driver/boot/kernel_trial.hpp"
#include "driver/detect/existing_driver.hpp"
#include "driver/detect/fabric_manager.hpp"
#include "driver/detect/kernel_choice.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/detect/modprobe_config.hpp"
#include "driver/detect/receipt.hpp"
#include "driver/module/kernel_symbols.hpp"
#include "driver/module/trusted_keys.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/loaded_driver.hpp"

namespace slipway::driver {

/// A kernel that gets modules.
struct KernelFacts {
  std::string release;  ///< empty when unknown
  std::optional<KernelHeaders> headers;
  std::string module_compression;
  std::string vermagic;         ///< of the kernel's own modules; empty: unknown
  KernelSymbols symbols;        ///< those for which is_watched() is true
  std::optional<KeyId> signer;  ///< of the kernel's own modules
  std::string enforces;         ///< why it refuses unsigned modules; empty: it does not, as far as can be seen
  std::string compiler;         ///< path of the headers' compiler in the root; empty: missing
  Initramfs initramfs;
};

struct HostFacts {
  // Hardware; empty without a kernel's view.
  bool kernel_view = false;
  std::vector<nvidia::Gpu> gpus;
  Json gpu_table;                       ///< files that renew the table of GPUs: GpuTable::renewals(); null: none
  Json gpu_table_problem;               ///< why they cannot be read: an error object, or null
  std::vector<std::string> nvswitches;  ///< PCI addresses
  bool nvlink5_switches = false;
  std::optional<FabricManager> fabric_manager;  ///< read only if there are NVSwitches
  std::vector<unsigned> gpu_minors;             ///< as the loaded driver assigned them
  std::optional<nvidia::LoadedDriver> loaded;
  std::string kernel_drivers;  ///< the kernel's own drivers that are loaded: "nouveau", "nova_core, nova"
  bool enforces_signatures = false;
  std::optional<bool> secure_boot;
  TrustedKeys keys;  ///< read only if one of the kernels below enforces signatures
  // The kernels that get modules.
  KernelFacts kernel;                        ///< the target
  std::vector<KernelFacts> further_kernels;  ///< besides the target, the newest first
  bool kernels_chosen = false;  ///< set by the spec's `kernels` or several --kernel; the target is the newest of them
  Json kernel_problem;          ///< why there is no target although kernels were chosen: an error object, or null
  std::vector<std::string> several_kernels;   ///< kernels of a root that has several, without a choice
  std::string running_kernel;                 ///< if --kernel or the spec names kernels, and one is running
  std::vector<std::string> followed_kernels;  ///< see KernelSet
  std::vector<std::string> kernels_without;   ///< see KernelSet
  bool follows_kernels = false;
  std::string changed_kernel;  ///< the kernel that has come or gone, which this plan is about; empty: it is about all
  BootDefault boot_default;    ///< read only if a kernel has no modules
  KernelTrial kernel_trial;
  bool has_make = false;
  // The root.
  std::string os;
  std::string os_family;     ///< ID and ID_LIKE, for hints: "debian", "rhel fedora"
  std::string kernel_hooks;  ///< what runs hooks when a kernel is installed: "debian", "kernel-install"; empty: nothing
  bool has_systemd = false;  ///< systemd is installed
  std::string lib_folder;
  std::string public_libdir;
  std::vector<ExistingDriver> existing;
  std::optional<Receipt> installed;
  std::vector<ModprobeLine> modprobe;  ///< the site's lines about the driver's modules
  // The replacement of the loaded driver; read only if the spec does not ask for exactly that one.
  std::string users;                    ///< a sentence about its users; empty: it has none
  std::vector<std::string> services;    ///< units that hold it and that an apply stops
  std::vector<std::string> exclusives;  ///< of its GPUs
  bool replacement_left = false;        ///< an earlier apply was cut off in a replacement
  ParameterValues loaded_parameters;    ///< values in the loaded modules, of parameters that the spec sets

  /// Returns the GPUs that an NVIDIA driver may use, without those passed through to virtual machines.
  std::vector<nvidia::Gpu> usable_gpus() const;
  /// Returns the kernels that get modules, the target first.
  std::vector<std::string> kernel_releases() const;
  /// True when a kernel's view is available, and it shows no usable GPU.
  bool no_gpu_here() const { return kernel_view && usable_gpus().empty(); }
};

/// @param parameters  parameters to read from the loaded modules
/// @param named       keys of the certificates that the spec names
HostFacts read_host_facts(const Host& host, const KernelChoice& choice = {}, const ParameterValues& parameters = {},
                          const TrustedKeys& named = {});
Facts to_facts(const HostFacts& facts);
HostFacts host_facts_from(const Facts& facts);

}  // namespace slipway::driver
