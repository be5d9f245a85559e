// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/action/as_recorded.hpp>

#include "driver/choose/errors.hpp"
#include "driver/choose/version.hpp"
#include "driver/choose/version_constraint.hpp"
#include "driver/package/module_build.hpp"
#include "driver/plan/module_parameters.hpp"
#include "nvidia/driver_version.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kSourceKey = "source";

Result<std::string> target_kernel(const HostFacts& facts, const Target& target) {
  if (!facts.kernel_problem.is_null()) return error_from_json(facts.kernel_problem);
  if (facts.kernels_chosen) return facts.kernel.release;
  if (!target.kernel_release.empty()) return target.kernel_release;
  if (!target.kernel_problem.is_null()) return error_from_json(target.kernel_problem);
  return Error{ErrorCode::not_found,
               "slipway cannot tell which kernel the driver is for",
               "/lib/modules",
               "name the kernel: --kernel RELEASE",
               {}};
}

/// Suggests one of several kernels: a kernel with a package in the source.
Error which_kernel(Error problem, const Settings& settings, const HostFacts& facts, const Target& target,
                   const Inputs& inputs) {
  if (problem.code != ErrorCode::conflict || facts.several_kernels.empty()) return problem;
  const auto catalogue = inputs.catalogue(kSourceKey);
  if (!catalogue) return catalogue.error();
  if (!catalogue->complete && catalogue->entries.empty() && catalogue->unread.empty())
    return needs_tags(*catalogue, {});
  Wanted wanted;
  wanted.os = facts.os;
  wanted.arch = target.arch;
  wanted.precompiled = settings.precompiled;
  std::vector<std::string> broken;
  const auto& kernels = facts.several_kernels;
  const auto with =
      kernels_with_package(kernels, packages_of(*catalogue, broken), *catalogue, settings.version, wanted);
  if (with.empty())
    problem.next = fmt::format(
        "none of them has a package in {}: build one (`slipway driver build --help` says how), and choose its kernel "
        "with --kernel RELEASE",
        catalogue->source);
  else if (with.size() < kernels.size())
    problem.next = fmt::format(
        "choose one that has a package, for example --kernel {}; or write kernels: [{}] for the component driver",
        with.front(), fmt::join(with, ", "));
  else
    problem.next = fmt::format(
        "choose one, for example --kernel {}; --kernel may be repeated; or write kernels: all, or kernels: newest, for "
        "the component driver",
        with.front());
  return problem;
}

Status check_hardware(const HostFacts& facts, const Target& target) {
  if (target.hardware != "require" || !facts.usable_gpus().empty()) return {};
  return Error{ErrorCode::not_found,
               facts.kernel_view ? "there is no NVIDIA GPU on the PCI bus" : "no GPU can be seen here",
               "spec.hardware = require",
               "write hardware: assume to install the driver without a GPU, or look for the GPU with `lspci -d 10de:`",
               {}};
}

Status check_kernel_keys(const Settings& settings, const HostFacts& facts) {
  if (!settings.note_missing_package || facts.kernels_chosen) return {};
  return Error{ErrorCode::invalid,
               "kernel_without_package: note has no effect: one kernel is planned for, and that one needs a package",
               "spec.components.driver.kernel_without_package",
               "leave the key out, or name the kernels that get modules as well: kernels: all",
               {}};
}

Wanted make_wanted(const Settings& settings, const HostFacts& facts, const Target& target, const Catalogue& catalogue,
                   const std::string& kernel_release) {
  Wanted wanted;
  wanted.source = catalogue.source;
  wanted.version = settings.version.text();
  wanted.kernel_release = kernel_release;
  wanted.os = facts.os;
  wanted.arch = target.arch;
  wanted.precompiled = settings.precompiled;
  wanted.complete = catalogue.complete || !catalogue.unread.empty();  // all packages of a candidate version are read
  if (facts.installed)
    for (const auto& kernel : facts.installed->kernels())
      if (kernel.compiled && kernel.release == kernel_release) wanted.compiled_from = kernel.manifest;
  return wanted;
}

std::vector<Package> of_version(const std::vector<Package>& packages, const std::string& version) {
  std::vector<Package> same;
  std::ranges::copy_if(packages, std::back_inserter(same),
                       [&](const auto& package) { return package.version == version; });
  return same;
}

std::string enforces_of(const HostFacts& facts, const std::string& release) {
  for (const auto& kernel : facts.further_kernels)
    if (kernel.release == release) return kernel.enforces;
  return facts.kernel.enforces;
}

// A kernel that enforces signatures would refuse unsigned modules after they are installed, so the plan fails before.
Status check_signatures(const Installation& installation, const Settings& settings, const HostFacts& facts,
                        const Target& target) {
  auto modules = installation.modules();
  modules.insert(modules.end(), installation.second.begin(), installation.second.end());
  const auto is_signed = [&](const KernelModules& of) {
    if (enforces_of(facts, of.kernel.release).empty()) return true;
    return of.build.is_null() ? !of.package->signer.empty() : !settings.sign_key.empty();
  };
  const auto refused = std::ranges::find_if_not(modules, is_signed);
  if (refused == modules.end()) return {};
  const bool compiled = !refused->build.is_null();
  const bool boots_securely = target.live && facts.secure_boot.value_or(false);
  return Error{
      ErrorCode::denied,
      fmt::format("this kernel refuses modules without a trusted signature ({}), and those of driver {} have none",
                  boots_securely ? "Secure Boot is on" : enforces_of(facts, refused->kernel.release),
                  installation.receipt.version),
      compiled ? "spec.components.driver.signing" : "spec.components.driver.source",
      compiled ? "name a key in signing: whose certificate is enrolled (`mokutil --import`)"
               : "use a package with signed modules: `slipway driver build --sign-key KEY --sign-cert CERT`",
      {}};
}

/// A version that fits this host.
struct FittedVersion {
  FlavourPlan flavour;
  Choice choice;
  Installation installation;
};

Result<FittedVersion> fit(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                          Wanted wanted) {
  const unsigned branch = nvidia::DriverVersion::parse(wanted.version)->branch();
  SLIPWAY_TRY(flavour, plan_flavour(settings, facts, branch, of_version(packages, wanted.version)));
  wanted.flavours = flavour.flavours;
  SLIPWAY_TRY(choice, choose_package(packages, wanted));
  auto installation = plan_installation(settings, facts, choice, wanted.kernel_release);
  if (installation) {
    installation->used = flavour.used;
    SLIPWAY_CHECK(add_second_set(settings, facts, packages, wanted, *installation));
    SLIPWAY_CHECK(add_further_kernels(settings, facts, packages, wanted, *installation, choice.notes));
    return FittedVersion{std::move(flavour), std::move(choice), std::move(*installation)};
  }
  Error error = std::move(installation).error();
  if (choice.compile) add_existing_packages(packages, wanted, error);
  return error;
}

/// A kernel that has come or gone changes nothing else: the version and flavour that are installed stay.
Settings of_installed(Settings settings, const HostFacts& facts) {
  if (facts.changed_kernel.empty() || !facts.installed) return settings;
  settings.version = VersionConstraint::parse(facts.installed->version).value_or(settings.version);
  settings.both_modules = !facts.installed->proprietary.empty();
  settings.modules = settings.both_modules ? std::nullopt : nvidia::parse_flavour(facts.installed->flavour);
  return settings;
}

/// The key does not apply to the newest kernel, and the text explains that to users who have set it.
Error with_kernel_rule(const Settings& settings, const std::string& kernel_release, Error error) {
  if (settings.note_missing_package && error.code != ErrorCode::needs_catalogue)
    error.details.emplace_back("key",
                               fmt::format("kernel_without_package: note does not apply to {}: the newest of the "
                                           "kernels always needs modules",
                                           kernel_release));
  return error;
}

/// Adds the actions for the running kernel: its modules are loaded now if it has some, else when such a kernel boots.
void add_running(const Settings& settings, const HostFacts& facts, const Target& target,
                 const Installation& installation, Plan& plan) {
  const Receipt& receipt = installation.receipt;
  const std::string flavour =
      installation.used ? std::string(nvidia::to_string(*installation.used)) : receipt.only_flavour();
  if (!target.live || facts.running_kernel.empty() || receipt.has_kernel(facts.running_kernel))
    return add_live_actions(settings, facts, target, {receipt.version, flavour}, plan);
  std::vector<std::string> releases;
  for (const auto& kernel : receipt.kernels()) releases.push_back(kernel.release);
  plan.add(reboot_into(releases));
  plan.note(fmt::format("kernel {} runs and gets no modules; they are loaded once {} is booted", facts.running_kernel,
                        receipt.kernels_text()));
}

/// Adds the actions and notes of a part of the plan. @param as_recorded  the actions stay as an earlier apply left
/// them: a kernel that has come or gone changes neither the loaded driver nor its nodes
void add_parts(const Plan& part, bool as_recorded, Plan& plan) {
  for (const auto& action : part.actions())
    plan.add(as_recorded ? action::as_recorded(action.kind(), action.target()) : action);
  for (const auto& note : part.notes()) plan.note(note);
}

}  // namespace

Result<Plan> make_plan(const Settings& of_spec, const HostFacts& facts, const Inputs& inputs) {
  const Settings settings = of_installed(of_spec, facts);
  const Target& target = inputs.target();
  SLIPWAY_CHECK(check_hardware(facts, target));
  SLIPWAY_CHECK(check_modprobe(settings, facts));
  if (!facts.existing.empty()) return plan_existing(settings, facts, target);
  SLIPWAY_CHECK(check_kernel_keys(settings, facts));
  const auto chosen_kernel = target_kernel(facts, target);
  if (!chosen_kernel) return which_kernel(chosen_kernel.error(), settings, facts, target, inputs);
  const std::string& kernel_release = *chosen_kernel;
  SLIPWAY_TRY(catalogue, inputs.catalogue(kSourceKey));

  Plan plan;
  std::vector<std::string> problems;
  const auto packages = packages_of(catalogue, problems);
  for (auto& problem : problems) plan.note(std::move(problem) + "; it is left out");

  const Wanted wanted = make_wanted(settings, facts, target, catalogue, kernel_release);
  std::optional<FittedVersion> fitted;
  const TryVersion fits = [&](const std::string& version) -> Status {
    Wanted one = wanted;
    one.version = version;
    SLIPWAY_TRY(found, fit(settings, facts, packages, one));
    fitted = std::move(found);
    return {};
  };
  auto choosing = choose_version(packages, catalogue, settings.version, wanted, fits);
  if (!choosing) return with_kernel_rule(settings, kernel_release, std::move(choosing).error());
  auto& chosen = *choosing;
  Installation& installation = fitted->installation;
  installation.receipt.follows_kernels = facts.follows_kernels;
  record_boot_default(settings, facts, target.live, installation.receipt);
  const std::string& version = chosen.version;
  SLIPWAY_CHECK(check_signatures(installation, settings, facts, target));

  for (const auto* notes : {&chosen.notes, &fitted->flavour.notes, &fitted->choice.notes})
    for (const auto& note : *notes) plan.note(note);
  for (const auto& modules : installation.modules())
    for (const auto& note : modules.notes) plan.note(note);
  for (const auto& modules : installation.second)
    for (const auto& note : modules.notes) plan.note(note);
  for (auto& warning : parameter_warnings(settings.parameters)) plan.note(std::move(warning));
  add_notes(settings, facts, version, plan);
  add_file_actions(settings, facts, installation, plan);
  add_kernel_hooks(facts, target, installation.receipt, plan);
  add_boot_default(settings, facts, target, installation.receipt, plan);
  add_kernel_trial(facts, target, installation.receipt, plan);
  Plan running;
  add_running(settings, facts, target, installation, running);
  add_parts(running, target.live && !facts.changed_kernel.empty(), plan);
  plan.output("driver_root", "/");
  plan.output("dev_root", "/");
  plan.output("version", version);
  plan.output("flavour",
              installation.used ? std::string(nvidia::to_string(*installation.used)) : installation.receipt.flavour);
  return plan;
}

}  // namespace slipway::driver
