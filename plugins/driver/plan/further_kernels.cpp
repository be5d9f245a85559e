// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "driver/choose/errors.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kNoteInstead = "write kernel_without_package: note, which leaves that kernel without the driver";

/// True when there are no modules for this kernel and no source to compile; any other error is a defect of a package.
bool means_no_modules(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::build_failed ||
         error.code == ErrorCode::unsupported;
}

std::string note_of(const std::vector<Package>& packages, const Wanted& wanted, const Error& error) {
  const std::string nearest = nearest_kernels(packages, wanted);
  return fmt::format("kernel {} gets no driver modules: {}{}", wanted.kernel_release, error.what,
                     nearest.empty() ? "" : "; those with a package are " + nearest);
}

Result<KernelModules> modules_for(const Settings& settings, const HostFacts& facts, const KernelFacts& kernel,
                                  const std::vector<Package>& packages, const Wanted& wanted,
                                  std::vector<std::string>& notes) {
  SLIPWAY_TRY(choice, choose_package(packages, wanted));
  auto modules = plan_modules(settings, facts, kernel, choice);
  if (modules) {
    notes.insert(notes.end(), choice.notes.begin(), choice.notes.end());
    return modules;
  }
  Error error = std::move(modules).error();
  if (choice.compile) add_existing_packages(packages, wanted, error);
  return error;
}

/// Uses the installed driver's receipt for one kernel, if the installed driver is the planned one.
void recall(const HostFacts& facts, bool may_lack, const Installation& installation, Wanted& wanted) {
  const bool is_second = installation.used && wanted.flavours.front() == nvidia::Flavour::proprietary;
  wanted.compiled_from.clear();
  wanted.known_missing = false;
  if (!facts.installed) return;
  const Receipt& before = *facts.installed;
  for (const auto& kernel : is_second ? before.proprietary : before.kernels())
    if (kernel.compiled && kernel.release == wanted.kernel_release) wanted.compiled_from = kernel.manifest;
  const bool same_driver =
      before.version == installation.receipt.version && before.flavour == installation.receipt.flavour;
  wanted.known_missing = may_lack && same_driver && std::ranges::count(before.without, wanted.kernel_release) != 0;
}

}  // namespace

Status add_second_set(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                      Wanted wanted, Installation& installation) {
  if (!installation.used) return {};
  wanted.flavours = {nvidia::Flavour::proprietary};
  recall(facts, false, installation, wanted);
  KernelFacts kernel = facts.kernel;
  kernel.release = wanted.kernel_release;
  SLIPWAY_TRY(modules, modules_for(settings, facts, kernel, packages, wanted, installation.notes));
  installation.receipt.proprietary.push_back(modules.kernel);
  installation.second.push_back(std::move(modules));
  return {};
}

Status add_further_kernels(const Settings& settings, const HostFacts& facts, const std::vector<Package>& packages,
                           Wanted wanted, Installation& installation, std::vector<std::string>& notes) {
  wanted.flavours = {installation.package->flavour};  // libraries and modules must have the same flavour
  installation.receipt.without = facts.kernels_without;
  for (const auto& release : facts.kernels_without)
    notes.push_back(fmt::format("kernel {} gets no driver modules", release));
  for (const auto& kernel : facts.further_kernels) {
    wanted.kernel_release = kernel.release;
    const bool may_lack =
        settings.note_missing_package || std::ranges::count(facts.followed_kernels, kernel.release) != 0;
    recall(facts, may_lack, installation, wanted);
    auto modules = modules_for(settings, facts, kernel, packages, wanted, notes);
    if (modules && installation.used) {  // a kernel gets both kinds or none
      Wanted other = wanted;
      other.flavours = {nvidia::Flavour::proprietary};
      recall(facts, may_lack, installation, other);
      auto second = modules_for(settings, facts, kernel, packages, other, notes);
      if (second) {
        installation.receipt.proprietary.push_back(second->kernel);
        installation.second.push_back(std::move(*second));
      } else {
        modules = std::move(second);
      }
    }
    if (modules) {
      installation.receipt.further.push_back(modules->kernel);
      installation.further.push_back(std::move(*modules));
      continue;
    }
    Error error = std::move(modules).error();
    if (!means_no_modules(error)) return error;
    if (!may_lack) {
      if (facts.changed_kernel.empty())
        error.next += fmt::format("{}{}", error.next.empty() ? "" : "; or ", kNoteInstead);
      return error;
    }
    notes.push_back(note_of(packages, wanted, error));
    installation.receipt.without.push_back(kernel.release);
  }
  return {};
}

}  // namespace slipway::driver
