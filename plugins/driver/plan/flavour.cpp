// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kModulesKey = "spec.components.driver.modules";

Error unsupported(const nvidia::FlavourChoice& choice) {
  Error error{ErrorCode::unsupported,
              choice.reason,
              "spec.components.driver.version",
              "choose a driver version that supports them",
              {}};
  for (const auto& warning : choice.warnings) error.details.emplace_back("gpu", warning);
  return error;
}

// `modules: proprietary`, on machines where every GPU requires the open modules, would install a driver without a
// usable GPU.
Result<FlavourPlan> explicit_flavour(nvidia::Flavour wanted, const std::vector<nvidia::Gpu>& gpus, unsigned branch) {
  FlavourPlan plan{{wanted}, {}};
  for (const auto& gpu : gpus) {
    const auto choice = nvidia::choose_flavour({gpu}, branch);
    if (std::ranges::count(choice.allowed, wanted) != 0) continue;
    const std::string why = choice.allowed.empty() ? choice.warnings.front() : choice.reason;
    plan.notes.push_back(fmt::format("{}: stays unused with modules: {}", why, nvidia::to_string(wanted)));
  }
  if (gpus.empty() || plan.notes.size() < gpus.size()) return plan;
  Error error{
      ErrorCode::unsupported,
      fmt::format("the {} modules of driver branch {} support none of the GPUs", nvidia::to_string(wanted), branch),
      kModulesKey,
      "write modules: auto, or choose another driver version",
      {}};
  for (const auto& note : plan.notes) error.details.emplace_back("gpu", note);
  return error;
}

Result<FlavourPlan> flavour_of_gpus(const std::vector<nvidia::Gpu>& gpus, unsigned branch) {
  auto choice = nvidia::choose_flavour(gpus, branch);
  if (choice.allowed.empty()) return unsupported(choice);
  FlavourPlan plan{choice.allowed, std::move(choice.warnings)};
  plan.notes.insert(plan.notes.begin(), fmt::format("modules: auto chooses {}: {}",
                                                    nvidia::to_string(plan.flavours.front()), choice.reason));
  return plan;
}

// Both kinds are installed; the open ones are those that are used where no GPU decides.
Result<FlavourPlan> both_flavours(const std::vector<nvidia::Gpu>& gpus, unsigned branch) {
  FlavourPlan plan{{nvidia::Flavour::open}, {}, nvidia::Flavour::open};
  if (gpus.empty()) {
    plan.notes.emplace_back("both kinds of modules are installed; each boot uses those for its GPUs");
    return plan;
  }
  auto choice = nvidia::choose_flavour(gpus, branch);
  if (choice.allowed.empty()) return unsupported(choice);
  plan.used = choice.allowed.front();
  plan.notes = std::move(choice.warnings);
  plan.notes.insert(plan.notes.begin(),
                    fmt::format("both kinds of modules are installed; the {} ones are used here: {}",
                                nvidia::to_string(*plan.used), choice.reason));
  return plan;
}

Result<FlavourPlan> flavour_of_packages(const std::vector<Package>& packages) {
  std::set<nvidia::Flavour> existing;
  std::set<nvidia::Flavour> defaults;
  for (const auto& package : packages) {
    existing.insert(package.flavour);
    if (package.default_flavour) defaults.insert(*package.default_flavour);
  }
  const auto& decided = defaults.size() == 1 ? defaults : existing;
  if (decided.size() == 1) {
    const auto flavour = *decided.begin();
    const char* why = &decided == &defaults ? "the package's default" : "the source has no other";
    return FlavourPlan{{flavour}, {fmt::format("modules: auto chooses {}: {}", nvidia::to_string(flavour), why)}};
  }
  return Error{ErrorCode::invalid,
               "modules: auto cannot be decided: no GPU can be seen, and the source has both flavours",
               kModulesKey,
               "name the GPUs that the machine will have, for example gpus: [H100], or write modules: open",
               {}};
}

/// What the driver's own list says about a GPU goes before the table.
std::vector<nvidia::Gpu> judged(std::vector<nvidia::Gpu> gpus, unsigned branch, const std::vector<Package>& packages) {
  SupportedGpus list;
  for (const auto& package : packages) list.add(package.gpus);
  for (auto& gpu : gpus) gpu = list.judged(std::move(gpu), branch);
  return gpus;
}

}  // namespace

Result<FlavourPlan> plan_flavour(const Settings& settings, const HostFacts& facts, unsigned branch,
                                 const std::vector<Package>& packages) {
  const auto seen = facts.usable_gpus();
  const auto gpus = judged(seen.empty() ? settings.gpus : seen, branch, packages);
  if (settings.both_modules) return both_flavours(gpus, branch);
  if (settings.modules) return explicit_flavour(*settings.modules, gpus, branch);
  if (!gpus.empty()) return flavour_of_gpus(gpus, branch);
  return flavour_of_packages(packages);
}

}  // namespace slipway::driver
