// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/plan.hpp - the driver's whole desired state, from settings, facts and catalogue, and what only a
// reboot changes. Pure.
#pragma once

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/plan.hpp>

#include "driver/choose/choose.hpp"
#include "driver/detect/host_facts.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

/// Errors: no kernel, no package, another driver in the way, a compiler or headers missing, GPUs that the driver does
/// not support; each says what to do.
Result<Plan> make_plan(const Settings& settings, const HostFacts& facts, const Inputs& inputs);

// The steps of it, for tests and for one another.

/// Which flavours may be taken, best first, and what there is to say about that.
struct FlavourPlan {
  std::vector<nvidia::Flavour> flavours;
  std::vector<std::string> notes;
};
/// @param packages  those of the chosen version: auto without any GPU follows their default
Result<FlavourPlan> plan_flavour(const Settings& settings, const HostFacts& facts, unsigned branch,
                                 const std::vector<Package>& packages);

/// The modules of one kernel.
struct KernelModules {
  InstalledKernel kernel;
  const Package* package = nullptr;
  Json build;  ///< null: the modules come ready
};

/// What is installed once the choice is made.
struct Installation {
  Receipt receipt;
  const Package* package = nullptr;
  Json build;                          ///< null: the modules come ready
  std::vector<KernelModules> further;  ///< for the kernels besides the target

  /// For each kernel, the target first.
  std::vector<KernelModules> modules() const;
};
Result<Installation> plan_installation(const Settings& settings, const HostFacts& facts, const Choice& choice,
                                       const std::string& kernel_release);

/// The modules of one package for one kernel. Errors: as plan_installation().
Result<KernelModules> plan_modules(const Settings& settings, const HostFacts& facts, const KernelFacts& kernel,
                                   const Choice& choice);

/// Chooses modules of the driver that `installation` has for each further kernel, and adds them.
/// @param wanted  as it was for the target
/// Errors: `needs_catalogue`; a kernel that there are none for, unless the settings let that pass: then it is a note.
Status add_further_kernels(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                           Wanted wanted, Installation& installation, std::vector<std::string>& notes);

/// Store, links, configuration files, receipt.
void add_file_actions(const Settings& settings, const HostFacts& facts, const Installation& installation, Plan& plan);

/// Modules and device nodes. Where a kernel shows no GPU the spec assumes one: else this would not be planned.
void add_live_actions(const Settings& settings, const HostFacts& facts, const Target& target,
                      const std::string& driver_version, Plan& plan);

/// Errors: `conflict` a line of modprobe.d, or the running kernel's command line, keeps a module from being loaded.
Status check_modprobe(const Settings& settings, const HostFacts& facts);

/// What there is to say of this machine: lines of modprobe.d that win over the spec's, parameters that only count once
/// the module is loaded again, and a Fabric Manager that is missing or of another version.
void add_notes(const Settings& settings, const HostFacts& facts, const std::string& driver_version, Plan& plan);

/// A driver that somebody else installed: `refuse` is an error, `keep` the plan to use it.
Result<Plan> plan_existing(const Settings& settings, const HostFacts& facts, const Target& target);

/// The module of the kernel's own driver that a GPU is bound to: "nouveau", "nova_core"; empty: none is.
std::string kernel_driver_that_holds_a_gpu(const HostFacts& facts);

/// Holds when no GPU is bound to nouveau or nova_core.
Action reboot_for_other_driver(const std::string& driver, bool blacklisted);

/// Holds when one of these kernels runs.
Action reboot_into(const std::vector<std::string>& kernels);

/// The component's check() and apply() for these. Applying changes nothing: it says that a reboot is due, and why.
Result<bool> check_reboot(const Action& action, const Host& host);
Result<Outcome> apply_reboot(const Action& action, const Host& host);

}  // namespace slipway::driver
