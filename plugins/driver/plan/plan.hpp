// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/plan.hpp - the driver's complete desired state, from settings, facts and catalogue, and the
// changes that need a reboot. Pure.
#pragma once

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/plan.hpp>

#include "driver/choose/choose.hpp"
#include "driver/detect/host_facts.hpp"
#include "driver/live/replacement.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

/// Errors: no kernel, no package, another driver in the way, a missing compiler or missing headers, GPUs that the
/// driver does not support; each has the remedy.
Result<Plan> make_plan(const Settings& settings, const HostFacts& facts, const Inputs& inputs);

// The steps of make_plan(), for tests and for one another.

/// The allowed flavours, best first, and remarks about them.
struct FlavourPlan {
  std::vector<nvidia::Flavour> flavours;
  std::vector<std::string> notes;
  std::optional<nvidia::Flavour> used = {};  ///< if both kinds are installed: the one that this machine uses
};
/// @param packages  packages of the chosen version: their list of GPUs counts, and auto without a GPU uses their
/// default
Result<FlavourPlan> plan_flavour(const Settings& settings, const HostFacts& facts, unsigned branch,
                                 const std::vector<Package>& packages);

/// The modules of one kernel.
struct KernelModules {
  InstalledKernel kernel;
  const Package* package = nullptr;
  Json build;                           ///< null: the modules are precompiled
  std::vector<std::string> notes = {};  ///< what was not checked about them
};

/// The files to install.
struct Installation {
  Receipt receipt;
  const Package* package = nullptr;
  Json build;                                ///< null: the modules are precompiled
  std::vector<KernelModules> further;        ///< for the kernels besides the target
  std::vector<std::string> notes;            ///< what was not checked about the target's modules
  std::vector<KernelModules> second;         ///< the proprietary modules of each kernel, if both kinds are installed
  std::optional<nvidia::Flavour> used = {};  ///< see FlavourPlan

  /// For each kernel, the target first.
  std::vector<KernelModules> modules() const;
};
Result<Installation> plan_installation(const Settings& settings, const HostFacts& facts, const Choice& choice,
                                       const std::string& kernel_release);

/// Compares what a package records about its modules with what the kernel demands.
/// @param notes  gets what was not checked
/// Errors: those of fit_of(), with the package.
Status check_package_fits(const HostFacts& facts, const KernelFacts& kernel, const Package& package,
                          std::vector<std::string>& notes);

/// Returns the modules of one package for one kernel. Errors: those of plan_installation().
Result<KernelModules> plan_modules(const Settings& settings, const HostFacts& facts, const KernelFacts& kernel,
                                   const Choice& choice);

/// Adds the proprietary modules of the target kernel, where both kinds are installed. Errors: as for one kind.
Status add_second_set(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                      Wanted wanted, Installation& installation);

/// Chooses modules of `installation`'s driver for each further kernel, and adds them.
/// @param wanted  the same as for the target
/// Errors: `needs_catalogue`; a kernel without modules, unless the settings allow that: then it is a note.
Status add_further_kernels(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                           Wanted wanted, Installation& installation, std::vector<std::string>& notes);

/// Adds store, links, configuration files and receipt.
void add_file_actions(const Settings& settings, const HostFacts& facts, const Installation& installation, Plan& plan);

/// Records in the receipt what add_boot_default() changes and could not read again.
void record_boot_default(const Settings& settings, const HostFacts& facts, bool live, Receipt& receipt);

/// Keeps the boot default, and the kernel that it boots, while a newer kernel has no modules; adds a note of what was
/// done, "boot default: …".
void add_boot_default(const Settings& settings, const HostFacts& facts, const Target& target, const Receipt& receipt,
                      Plan& plan);

/// With `boot_gate: true` and GRUB: boots the newest kernel with modules once, and keeps the default on the running one
/// until a boot of the new one is verified; adds a note of that, "boot default: …". Does nothing while the default is
/// held for another reason.
void add_kernel_trial(const HostFacts& facts, const Target& target, const Receipt& receipt, Plan& plan);

/// Adds hooks of package managers that run `slipway kernel`, the unit that continues their work, and a timer while a
/// kernel has no modules; a path unit where there is no package manager with hooks.
void add_kernel_hooks(const HostFacts& facts, const Target& target, const Receipt& receipt, Plan& plan);

/// Adds modules and device nodes, and the steps that replace another loaded driver. If the kernel shows no GPU, a GPU
/// is assumed because of the spec.
void add_live_actions(const Settings& settings, const HostFacts& facts, const Target& target,
                      const WantedDriver& wanted, Plan& plan);

/// Errors: `conflict` a line of modprobe.d, or the running kernel's command line, keeps a module from being loaded.
Status check_modprobe(const Settings& settings, const HostFacts& facts);

/// Adds notes: modprobe.d lines that override the spec's, parameters that take effect only when the module is loaded
/// again, and a Fabric Manager that is missing or has another version.
void add_notes(const Settings& settings, const HostFacts& facts, const std::string& driver_version, Plan& plan);

/// Handles a driver that slipway did not install: `refuse` fails, `keep` plans to use it.
Result<Plan> plan_existing(const Settings& settings, const HostFacts& facts, const Target& target);

/// Returns the kernel's own module that drives a GPU: "nouveau", "nova_core"; empty: none does.
std::string kernel_driver_that_holds_a_gpu(const HostFacts& facts);

/// Done when no GPU is bound to nouveau or nova_core.
Action reboot_for_other_driver(const std::string& driver, bool blacklisted);

/// Done when one of these kernels runs.
Action reboot_into(const std::vector<std::string>& kernels);

/// The component's check() and apply() for these actions. The apply() changes nothing: it reports that a reboot is due,
/// and why.
Result<bool> check_reboot(const Action& action, const Host& host);
Result<Outcome> apply_reboot(const Action& action, const Host& host);

}  // namespace slipway::driver
