// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/runtime_component.hpp"

#include <algorithm>

#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

struct Engine {
  const char* name;
  Result<Json> (*read)(const RuntimeSettings& settings, const Host& host);
  Status (*plan)(const RuntimeSettings& settings, const Json& facts, Plan& plan);
};
constexpr Engine kEngines[] = {{"containerd", read_containerd, plan_containerd},
                               {"crio", read_crio, plan_crio},
                               {"docker", read_docker, plan_docker}};

constexpr std::chrono::seconds kDumpLimit{30};

RuntimeSettings read_settings(const Spec& spec) {
  RuntimeSettings settings;
  settings.engines = spec.texts("engines");
  settings.names = spec.texts("names");
  if (settings.names.empty()) settings.names = {"nvidia"};
  settings.set_as_default = spec.flag("set_as_default");
  settings.runtime_path = spec.text("runtime_path");
  settings.cdi = spec.flag("cdi");
  settings.containerd_config = spec.text("containerd_config");
  settings.crio_drop_in = spec.text("crio_drop_in");
  settings.docker_config = spec.text("docker_config");
  return settings;
}

bool asked_for(const RuntimeSettings& settings, const std::string& engine) {
  return std::ranges::count(settings.engines, engine) != 0;
}

/// What containerd itself says that its configuration amounts to.
void verify_containerd(const RuntimeSettings& settings, const Json& facts, const Host& host, Findings& findings) {
  const auto dump = host.run({"containerd", "--config", settings.containerd_config, "config", "dump"}, kDumpLimit);
  const auto config =
      dump && dump->exit_status == 0 ? parse_toml(dump->output, "containerd config dump") : Result<Json>(Json(nullptr));
  const Json plugins = config ? at_path(*config, {"plugins"}) : Json(nullptr);
  if (!plugins.is_object()) {
    findings.fail("runtime.containerd", "containerd cannot read its configuration" + (dump ? ": " + dump->errors : ""),
                  "look at " + facts.value("path", settings.containerd_config) +
                      "; `slipway rollback` brings back the former one");
    return;
  }
  for (const std::string& name : settings.names) {
    const bool there = std::ranges::any_of(plugins.items(), [&](const auto& plugin) {
      return at_path(plugin.value(), {"containerd", "runtimes", name}).is_object();
    });
    if (there) continue;
    findings.fail("runtime.containerd", "containerd does not see the runtime class " + name, "run `slipway apply`");
    return;
  }
  findings.pass("runtime.containerd", "containerd has the runtime classes that were asked for");
}

}  // namespace

Result<Facts> Runtime::detect(const Spec& spec, const Host& host) const {
  const RuntimeSettings settings = read_settings(spec);
  Facts facts;
  bool any = false;
  for (const Engine& engine : kEngines) {
    if (!settings.engines.empty() && !asked_for(settings, engine.name)) continue;
    SLIPWAY_TRY(found, engine.read(settings, host));
    any = any || !found.is_null();
    facts.set(engine.name, found);
  }
  if (!any && settings.engines.empty()) return Facts::not_applicable("no container engine is installed");
  return facts;
}

Result<Plan> Runtime::plan(const Spec& spec, const Facts& facts, const Inputs&) const {
  const RuntimeSettings settings = read_settings(spec);
  Plan plan;
  for (const Engine& engine : kEngines) {
    if (facts.has(engine.name)) SLIPWAY_CHECK(engine.plan(settings, facts.value(engine.name), plan));
    if (!facts.has(engine.name) && asked_for(settings, engine.name))
      return Error{ErrorCode::not_found,
                   std::string(engine.name) + " is not installed",
                   "spec.components.runtime.engines",
                   "install it, or take it out of engines",
                   {}};
  }
  return plan;
}

Result<Findings> Runtime::verify(const Spec& spec, const Host& host) const {
  const RuntimeSettings settings = read_settings(spec);
  SLIPWAY_TRY(facts, detect(spec, host));
  Findings findings;
  for (const Engine& engine : kEngines) {
    if (!facts.has(engine.name)) continue;
    const std::string name = std::string("runtime.") + engine.name;
    if (!host.live())
      findings.not_exercised(name, "the root is not running");
    else if (name == "runtime.containerd")
      verify_containerd(settings, facts.value(engine.name), host, findings);
    else
      findings.not_exercised(name, "the engine has no tool that shows its merged configuration");
  }
  return findings;
}

}  // namespace slipway::toolkit
