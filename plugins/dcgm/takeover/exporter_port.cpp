// SPDX-License-Identifier: Apache-2.0
#include "dcgm/takeover/exporter_port.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "dcgm/takeover/other_exporters.hpp"

namespace slipway::dcgm {
namespace {

constexpr const char* kExporterUnitsFact = "others.exporter_units";
constexpr const char* kEngineUnitsFact = "others.engine_units";
constexpr const char* kExportersFact = "others.exporters";
constexpr const char* kExporterOwnersFact = "others.exporter_owners";  // for each exporter its unit, or an empty text
constexpr const char* kEnginesFact = "others.engines";
constexpr const char* kPortFact = "others.port";
constexpr const char* kPortOwnerFact = "others.port_owner";

/// Returns the listener that blocks the service's port and does not belong to slipway.
std::optional<PortHolder> stranger_at_port(const Host& host, const TakeoverSettings& settings) {
  auto holder = port_holder(host, settings.address, settings.port);
  const bool systemd_has_it = holder && holder->process && holder->process->process.pid == 1;
  if (!holder || holder->own || (settings.systemd_socket && systemd_has_it)) return std::nullopt;
  return holder;
}

std::vector<std::string> texts_of(const std::vector<OtherProcess>& others) {
  std::vector<std::string> texts;
  for (const OtherProcess& other : others) texts.push_back(to_text(other));
  return texts;
}

/// A unit that must be stopped and disabled; undoing the action restores both.
Action stopped_unit(const std::string& unit) {
  return Action(
      {{"kind", "systemd-unit"}, {"target", unit}, {"enabled", false}, {"started", false}, {"stopped", true}});
}

std::string port_text(const TakeoverSettings& settings) { return "port " + std::to_string(settings.port); }

/// The remedy for a program that no systemd unit started.
constexpr const char* kEndIt =
    "end it where it was started (a DaemonSet, a container, a shell), or give `listen` another port";

/// @param unit  the unit that started it; empty: none, or it is not visible
std::string remedy_for(const std::string& unit, const std::vector<std::string>& units) {
  if (std::ranges::count(units, unit) == 0) return kEndIt;
  return "`existing_exporter: takeover` stops and disables " + unit + "; or give `listen` another port";
}

std::string unit_of(const OtherProcess& other) { return other.process.owner.unit; }

std::string unit_of(const PortHolder& holder) { return holder.process ? unit_of(*holder.process) : holder.suspect; }

}  // namespace

void add_facts(const Host& host, const TakeoverSettings& settings, Facts& facts) {
  facts.set(kExporterUnitsFact, installed_units(host, Role::exporter));
  facts.set(kEngineUnitsFact, installed_units(host, Role::engine));
  if (!host.live()) return;
  if (const auto exporters = running(host, Role::exporter); !exporters.empty()) {
    std::vector<std::string> owners;
    for (const OtherProcess& other : exporters) owners.push_back(unit_of(other));
    facts.set_volatile(kExportersFact, texts_of(exporters));
    facts.set_volatile(kExporterOwnersFact, owners);
  }
  if (const auto engines = texts_of(running(host, Role::engine)); !engines.empty())
    facts.set_volatile(kEnginesFact, engines);
  if (const auto holder = stranger_at_port(host, settings)) {
    facts.set_volatile(kPortFact, to_text(*holder));
    facts.set_volatile(kPortOwnerFact, unit_of(*holder));
  }
}

void add_takeover(const TakeoverSettings& settings, const Facts& facts, Plan& plan) {
  const std::vector<std::string> exporters = facts.texts(kExporterUnitsFact);
  if (settings.takes_over)
    for (const std::string& unit : exporters)
      plan.add(stopped_unit(unit))
          .because("slipway answers Prometheus in its place; `slipway remove dcgm` restores it");
  if (settings.takes_over && settings.engine == "managed")
    for (const std::string& unit : facts.texts(kEngineUnitsFact))
      plan.add(stopped_unit(unit))
          .because("slipway runs nv-hostengine itself (engine: managed); `slipway remove dcgm` restores it");
  const std::string holder = facts.text(kPortFact);
  const std::string owner = facts.text(kPortOwnerFact);
  const auto goes = [&](const std::string& unit) {
    return settings.takes_over && std::ranges::count(exporters, unit) != 0;
  };
  if (!holder.empty() && !goes(owner))
    plan.note(port_text(settings) + " is taken by " + holder + "; the service waits until it is free. " +
              remedy_for(owner, exporters));
  const std::vector<std::string> running_ones = facts.texts(kExportersFact);
  const std::vector<std::string> owners = facts.texts(kExporterOwnersFact);
  for (std::size_t i = 0; i < running_ones.size(); ++i)
    if (running_ones[i] != holder && !goes(i < owners.size() ? owners[i] : ""))
      plan.note("a dcgm-exporter runs as well, and samples the same GPUs: " + running_ones[i]);
  for (const std::string& other : facts.texts(kEnginesFact))
    if (settings.engine == "none" || (settings.engine == "managed" && !settings.takes_over))
      plan.note("DCGM's host engine runs, and keeps the driver in use: " + other +
                (settings.engine == "none" ? ". `engine: external` takes values from it"
                                           : ". Two engines cannot share the profiling of GPUs before Hopper: use "
                                             "`engine: external`, or `existing_exporter: takeover`"));
}

void add_findings(const Host& host, const TakeoverSettings& settings, Findings& findings) {
  if (!host.live()) return;
  const std::vector<std::string> units = installed_units(host, Role::exporter);
  const auto warn = [&findings](const char* name, std::string text, std::string remedy) {
    findings.add({Finding::Status::warning, name, std::move(text), std::move(remedy)});
  };
  const auto holder = stranger_at_port(host, settings);
  const std::string at_port = holder ? to_text(*holder) : "";
  if (holder)
    warn("dcgm.port", "metrics cannot be scraped: " + port_text(settings) + " is taken by " + at_port,
         remedy_for(unit_of(*holder), units));
  for (const OtherProcess& other : running(host, Role::exporter))
    if (const std::string text = to_text(other); text != at_port)
      warn("dcgm.exporter", "a dcgm-exporter runs as well, and samples the same GPUs: " + text,
           remedy_for(unit_of(other), units));
  for (const OtherProcess& other : running(host, Role::engine))
    if (settings.engine == "none")
      warn(
          "dcgm.engine", "DCGM's host engine runs, and keeps the driver in use: " + to_text(other),
          "`engine: external` takes values from it; if it is not needed, stop its unit with `systemctl disable --now`");
}

}  // namespace slipway::dcgm
