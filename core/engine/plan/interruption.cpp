// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/interruption.hpp"

#include <algorithm>
#include <utility>

namespace slipway::core {
namespace {

constexpr std::pair<Interruption::Level, const char*> kInterruptions[]{
    {Interruption::Level::none, "none"},
    {Interruption::Level::services, "services"},
    {Interruption::Level::driver_reload, "driver reload"},
    {Interruption::Level::reboot, "reboot"}};

void raise_to(Interruption& all, Interruption::Level level, std::string why) {
  if (level == Interruption::Level::none || level < all.level) return;
  if (level > all.level) all.why.clear();
  all.level = level;
  if (std::ranges::count(all.why, why) == 0) all.why.push_back(std::move(why));
}

Interruption::Level declared_level(const std::string& name) {
  for (const auto& [level, text] : kInterruptions)
    if (name == text) return level;
  return Interruption::Level::none;
}

std::string why_interrupted(const PlannedItem& item) {
  const Json because = item.removal ? Json() : item.action.value("because");
  return because.is_string() ? because.get<std::string>() : item.check.summary;
}

/// What a changed item interrupts by its kind.
Interruption::Level interrupted_by(const PlannedItem& item, const Host& host) {
  const std::string kind = item.action.kind();
  if (kind == "kernel-module" && host.live() && host.module_loaded(item.action.target()))
    return Interruption::Level::driver_reload;
  if (kind == "systemd-unit" && item.removal) return Interruption::Level::services;
  return item.action.json().value("quiesces_services", false) ? Interruption::Level::services
                                                              : Interruption::Level::none;
}

void add_interruptions(Interruption& all, const PlannedComponent& component, const Host& host) {
  // A component that says what its change interrupts is right about the modules as well.
  bool says = false;
  for (const PlannedItem& item : component.items) {
    const std::string declared = item.action.text("interrupts");
    if (!item.changes() || item.removal || declared.empty()) continue;
    says = true;
    raise_to(all, declared_level(declared), component.name + ": " + why_interrupted(item));
  }
  for (const PlannedItem& item : component.items) {
    if (!item.changes()) continue;
    const Interruption::Level level = interrupted_by(item, host);
    if (!says || level < Interruption::Level::driver_reload)
      raise_to(all, level, component.name + ": " + why_interrupted(item));
    for (const Trigger& trigger : triggers_of(item.action))
      if (trigger.kind == Trigger::Kind::restart)  // a service that is reloaded goes on running
        raise_to(all, Interruption::Level::services, component.name + ": " + trigger.text());
  }
}

}  // namespace

std::string Interruption::name() const {
  for (const auto& [each, text] : kInterruptions)
    if (each == level) return text;
  return {};
}

Interruption interruption_of(const std::vector<PlannedComponent>& components, const Host& host) {
  Interruption all;
  if (!host.has_kernel_view()) return all;  // an image interrupts nothing
  for (const PlannedComponent& component : components)
    if (!component.error) add_interruptions(all, component, host);
  return all;
}

}  // namespace slipway::core
