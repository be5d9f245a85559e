// SPDX-License-Identifier: Apache-2.0
#include "dcgm/takeover/standing.hpp"

#include <slipway/text.hpp>

#include "dcgm/takeover/others.hpp"

namespace slipway::dcgm {
namespace {

constexpr const char* kExporterUnitsFact = "others.exporter_units";
constexpr const char* kEngineUnitsFact = "others.engine_units";
constexpr const char* kExportersFact = "others.exporters";
constexpr const char* kEnginesFact = "others.engines";
constexpr const char* kPortFact = "others.port";

/// Who keeps the service from its port, and does not belong to slipway.
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

/// A unit that must neither run nor be enabled; undoing it brings both back.
Action stopped_unit(const std::string& unit) {
  return Action(
      {{"kind", "systemd-unit"}, {"target", unit}, {"enabled", false}, {"started", false}, {"stopped", true}});
}

std::string port_text(const TakeoverSettings& settings) { return "port " + std::to_string(settings.port); }

/// What to do about somebody that a unit of systemd's did not start.
constexpr const char* kEndIt =
    "end it where it was started (a DaemonSet, a container, a shell), or give `listen` another port";

std::string remedy_for(const std::string& who, const std::vector<std::string>& units) {
  for (const std::string& unit : units)
    if (who.find(", " + unit) != std::string::npos)
      return "`existing_exporter: takeover` stops and disables " + unit + "; or give `listen` another port";
  return kEndIt;
}

}  // namespace

void add_facts(const Host& host, const TakeoverSettings& settings, Facts& facts) {
  facts.set(kExporterUnitsFact, installed_units(host, Role::exporter));
  facts.set(kEngineUnitsFact, installed_units(host, Role::engine));
  if (!host.live()) return;
  if (const auto exporters = texts_of(running(host, Role::exporter)); !exporters.empty())
    facts.set_volatile(kExportersFact, exporters);
  if (const auto engines = texts_of(running(host, Role::engine)); !engines.empty())
    facts.set_volatile(kEnginesFact, engines);
  if (const auto holder = stranger_at_port(host, settings)) facts.set_volatile(kPortFact, to_text(*holder));
}

void add_takeover(const TakeoverSettings& settings, const Facts& facts, Plan& plan) {
  const std::vector<std::string> exporters = facts.texts(kExporterUnitsFact);
  if (settings.takes_over)
    for (const std::string& unit : exporters)
      plan.add(stopped_unit(unit))
          .because("slipway answers Prometheus in its place; `slipway remove dcgm` brings it back");
  if (settings.takes_over && settings.engine == "managed")
    for (const std::string& unit : facts.texts(kEngineUnitsFact))
      plan.add(stopped_unit(unit))
          .because("slipway runs nv-hostengine itself (engine: managed); `slipway remove dcgm` brings it back");
  const std::string holder = facts.text(kPortFact);
  const bool goes = settings.takes_over && remedy_for(holder, exporters) != kEndIt;
  if (!holder.empty() && !goes)
    plan.note(port_text(settings) + " is taken by " + holder + "; the service waits until it is free. " +
              remedy_for(holder, exporters));
  for (const std::string& other : facts.texts(kExportersFact))
    if (other != holder && !(settings.takes_over && remedy_for(other, exporters) != kEndIt))
      plan.note("a dcgm-exporter runs as well, and samples the same GPUs: " + other);
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
    warn("dcgm.port", "nobody can scrape: " + port_text(settings) + " is taken by " + at_port,
         remedy_for(at_port, units));
  for (const OtherProcess& other : running(host, Role::exporter))
    if (const std::string text = to_text(other); text != at_port)
      warn("dcgm.exporter", "a dcgm-exporter runs as well, and samples the same GPUs: " + text,
           remedy_for(text, units));
  for (const OtherProcess& other : running(host, Role::engine))
    if (settings.engine == "none")
      warn("dcgm.engine", "DCGM's host engine runs, and keeps the driver in use: " + to_text(other),
           "`engine: external` takes values from it; `systemctl disable --now` its unit where nobody needs it");
}

}  // namespace slipway::dcgm
