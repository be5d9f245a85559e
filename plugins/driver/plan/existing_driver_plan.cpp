// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

std::set<std::string> versions_of(const std::vector<ExistingDriver>& traces) {
  std::set<std::string> versions;
  for (const auto& trace : traces)
    if (!trace.version.empty()) versions.insert(trace.version);
  return versions;
}

std::string flavour_of(const HostFacts& facts) {
  if (facts.loaded && facts.loaded->flavour) return std::string{nvidia::to_string(*facts.loaded->flavour)};
  for (const auto& trace : facts.existing)
    if (!trace.flavour.empty()) return trace.flavour;
  return "proprietary";
}

std::string how_to_remove(const ExistingDriver& trace) {
  return trace.remove.starts_with('`') ? "remove it: " + trace.remove : trace.remove;
}

void add_traces(const std::vector<ExistingDriver>& traces, Error& error) {
  for (const auto& trace : traces) {
    const std::string version = trace.version.empty() ? "" : ", version " + trace.version;
    error.details.emplace_back("found",
                               fmt::format("{}: {}{}; {}", trace.how, trace.what, version, how_to_remove(trace)));
  }
}

Error in_the_way(const Settings& settings, const std::vector<ExistingDriver>& traces) {
  const auto versions = versions_of(traces);
  Error error{
      ErrorCode::conflict, "an NVIDIA driver that slipway did not install is in the way", traces.front().what, {}, {}};
  add_traces(traces, error);
  error.next = how_to_remove(traces.front());
  if (versions.size() == 1 && settings.version.allows(*versions.begin()))
    error.next += "; or use that driver as it is: existing: keep";
  return error;
}

Error cannot_keep(const Settings& settings, const std::vector<ExistingDriver>& traces) {
  const auto versions = versions_of(traces);
  std::string why = "but its version is not known";
  if (versions.size() > 1) why = fmt::format("but it is a mix of {}", fmt::join(versions, " and "));
  if (versions.size() == 1) why = fmt::format("but it is {}, not {}", *versions.begin(), settings.version.text());
  Error error{ErrorCode::conflict,
              fmt::format("the spec keeps the existing NVIDIA driver, {}", why),
              "spec.components.driver.existing = keep",
              {},
              {}};
  add_traces(traces, error);
  error.next = versions.size() == 1
                   ? fmt::format("write version: \"{}\", or {}", *versions.begin(), how_to_remove(traces.front()))
                   : how_to_remove(traces.front());
  return error;
}

}  // namespace

Result<Plan> plan_existing(const Settings& settings, const HostFacts& facts, const Target& target) {
  if (!settings.keep_existing) return in_the_way(settings, facts.existing);
  const auto versions = versions_of(facts.existing);
  const bool agrees = versions.size() == 1 && settings.version.allows(*versions.begin());
  if (!agrees) return cannot_keep(settings, facts.existing);
  Plan plan;
  plan.note(fmt::format(
      "the existing driver {} is kept ({}); slipway loads that driver and makes its device nodes, and installs nothing",
      *versions.begin(), facts.existing.front().what));
  if (!settings.parameters.empty())
    plan.note("existing: keep: the spec's parameters are not applied, since the driver's owner sets them");
  if (facts.kernels_chosen)
    plan.note(
        "slipway installs no modules for the chosen kernels, because `existing: keep` leaves the driver to its owner");
  if (const auto fault = fabric_manager_fault(facts, *versions.begin()); !fault.empty())
    plan.note(fmt::format("{}: {}", fault, fabric_manager_remedy(*versions.begin())));
  add_live_actions(settings, facts, target, {*versions.begin(), {}}, plan);
  plan.output("driver_root", "/");
  plan.output("dev_root", "/");
  plan.output("version", *versions.begin());
  plan.output("flavour", flavour_of(facts));
  return plan;
}

}  // namespace slipway::driver
