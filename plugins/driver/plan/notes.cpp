// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

/// Notes the parameters of the spec that a later line sets to another value.
void note_later_options(const Settings& settings, const ModprobeLine& line, Plan& plan) {
  const auto wanted = settings.parameters.find(line.module);
  if (line.command != "options" || !line.later || wanted == settings.parameters.end()) return;
  for (const auto& [name, value] : options_in(line.rest)) {
    const auto ours = wanted->second.find(name);
    if (ours == wanted->second.end() || same_value(ours->second, value)) continue;
    plan.note(fmt::format("{} sets {} of {} to {} later, and the last value is used: the spec's {} has no effect",
                          line.where, name, line.module, value, ours->second));
  }
}

void note_modprobe(const Settings& settings, const HostFacts& facts, Plan& plan) {
  for (const auto& line : facts.modprobe) {
    note_later_options(settings, line, plan);
    if (line.command == "blacklist" && std::ranges::count(settings.load, line.module) != 0)
      plan.note(
          fmt::format("{}: '{}' keeps udev and systemd-modules-load from loading {}; slipway loads it by its name",
                      line.where, line.text(), line.module));
  }
}

void note_loaded_parameters(const Settings& settings, const HostFacts& facts, const std::string& driver_version,
                            Plan& plan) {
  if (!facts.loaded || facts.loaded->version != driver_version) return;
  for (const auto& [module, values] : facts.loaded_parameters)
    for (const auto& [name, is] : values)
      if (const auto& wanted = settings.parameters.at(module).at(name); !same_value(wanted, is))
        plan.note(fmt::format(
            "{} is loaded with {}={}; {} takes effect when the module is loaded next, at the latest after a reboot",
            module, name, is, wanted));
}

}  // namespace

Status check_modprobe(const Settings& settings, const HostFacts& facts) {
  Error error{ErrorCode::conflict, {}, {}, {}, {}};
  for (const auto& line : facts.modprobe) {
    if (!line.prevents_loading() || std::ranges::count(settings.load, line.module) == 0) continue;
    if (!error.what.empty()) {
      error.details.emplace_back("also", fmt::format("{}: {}", line.where, line.text()));
      continue;
    }
    error.what = fmt::format("the module {} cannot be loaded: '{}'", line.module, line.text());
    error.where = line.where;
    error.next = line.command == "module_blacklist"
                     ? "remove the name from module_blacklist= in the boot loader's configuration, then reboot"
                     : "delete that line; or leave the module out of spec.components.driver.load";
  }
  return error.what.empty() ? Status{} : Status(std::move(error));
}

void add_notes(const Settings& settings, const HostFacts& facts, const std::string& driver_version, Plan& plan) {
  note_modprobe(settings, facts, plan);
  note_loaded_parameters(settings, facts, driver_version, plan);
  if (const auto fault = fabric_manager_fault(facts, driver_version); !fault.empty())
    plan.note(fmt::format("{}: {}", fault, fabric_manager_remedy(driver_version)));
}

}  // namespace slipway::driver
