// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/component/component.hpp"

#include <algorithm>
#include <optional>

#include <slipway/action/as_recorded.hpp>

#include "nvidia/gpu.hpp"
#include "toolkit/containers/loss.hpp"
#include "toolkit/environment.hpp"
#include "toolkit/programs/configure/arguments.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"
#include "toolkit/runtime/toolkit_config.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kHookRemedy = "remove the file, for example by removing its package";
constexpr const char* kProblem = "problem_of_";  // prefix of a fact's name, before the engine's name

struct Engine {
  std::string name;
  std::function<Result<Json>(const RuntimeSettings& settings, const Host& host)> read;
  Status (*plan)(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan);
};

const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> list;
    for (const ContainerdKind& kind : containerd_kinds())
      list.push_back({kind.name,
                      [name = kind.name](const RuntimeSettings& settings, const Host& host) {
                        return read_containerd(name, settings, host);
                      },
                      plan_containerd});
    list.push_back({"crio", read_crio, plan_crio});
    list.push_back({"docker", read_docker, plan_docker});
    list.push_back({"podman", read_podman, plan_podman});
    return list;
  }();
  return all;
}

bool looked_at(const RuntimeSettings& settings, const std::string& engine) {
  return settings.engines.empty() || std::ranges::count(settings.engines, engine) != 0;
}

/// True when the handlers of an engine start slipway-runtime, which applies the rules for requests.
bool starts_own_runtime(const Facts& facts) {
  return std::ranges::any_of(engines(), [&](const Engine& engine) {
    return facts.has(engine.name) && file_name(text_of(facts.value(engine.name), "runtime")) == "slipway-runtime";
  });
}

/// True when the handlers of an engine start a program that reads config.toml.
bool starts_a_runtime(const Facts& facts) {
  return std::ranges::any_of(engines(), [&](const Engine& engine) {
    return facts.has(engine.name) && !text_of(facts.value(engine.name), "runtime").empty();
  });
}

Error without_effect(const std::string& key, const std::string& why, const std::string& next) {
  return Error{ErrorCode::unsupported, key + " has no effect here: " + why, "spec.components.runtime." + key, next, {}};
}

/// Checks that a program here reads the settings for config.toml.
Status expect_effect(const RuntimeSettings& settings, const Facts& facts, Plan& plan) {
  if (settings.nri || settings.untouched || starts_a_runtime(facts)) return {};
  constexpr const char* kNobody = "the engines give devices by themselves, without slipway-runtime";
  if (!settings.toolkit_keys.empty())
    return without_effect(settings.toolkit_keys.front(), kNobody,
                          "remove it, install slipway-runtime as /usr/bin/slipway-runtime, or write mode: nri");
  for (const std::string& name : settings.toolkit_variables) plan.note(name + " has no effect here: " + kNobody);
  return {};
}

std::string hook_sentence(const std::string& path) {
  return path +
         " makes podman and CRI-O run NVIDIA's hook in each container with NVIDIA_VISIBLE_DEVICES, in addition to "
         "the " +
         "CDI devices";
}

void add_notes(const RuntimeSettings& settings, const Facts& facts, Plan& plan) {
  for (const std::string& note : settings.notes) plan.note(note);
  for (const std::string& warning : facts.texts("config_warnings")) plan.note(warning);
  for (const std::string& path : facts.texts("legacy_hooks")) plan.note(hook_sentence(path) + "; " + kHookRemedy);
}

/// Returns warnings about keys in config.toml that its reader here ignores. Errors: `invalid` invalid TOML, or a key of
/// another type: slipway-runtime then rejects each container.
Result<std::vector<std::string>> config_warnings(const RuntimeSettings& settings, const Host& host) {
  const auto text = host.read(kToolkitConfig);
  SLIPWAY_TRY(file, text ? parse_toml(*text, kToolkitConfig) : Result<Json>(Json::object()));
  file.merge_patch(settings.toolkit_config);
  SLIPWAY_CHECK(shim::config_of(file, kToolkitConfig));
  return toolkit_config_warnings(file, settings.nri);
}

void add_problem(Finding::Status status, std::string name, const Error& problem, Findings& findings) {
  findings.add({status, std::move(name), problem.what + (problem.where.empty() ? "" : " (" + problem.where + ")"),
                problem.next});
}

/// Checks that slipway-runtime, or the NRI service, can read its settings.
void check_toolkit_config(const RuntimeSettings& settings, const Host& host, Findings& findings) {
  if (const auto warnings = config_warnings(settings, host); !warnings)
    add_problem(Finding::Status::fail, "runtime.config", warnings.error(), findings);
}

/// The installed engines by their names in facts.
struct FoundEngines {
  Json facts = Json::object();
  std::vector<std::pair<std::string, Error>> problems;  ///< by the engine's name, which is then not among the facts
};

FoundEngines find_engines(const RuntimeSettings& settings, const Host& host) {
  FoundEngines found;
  for (const Engine& engine : engines()) {
    if (!looked_at(settings, engine.name)) continue;
    auto seen = engine.read(settings, host);
    if (seen && seen->is_null() && !settings.engines.empty())
      seen = Error{ErrorCode::not_found,
                   engine.name + " is not installed",
                   "spec.components.runtime.engines",
                   "install it, or remove it from engines",
                   {}};
    if (!seen) {
      found.problems.emplace_back(engine.name, std::move(seen).error());
      continue;
    }
    if (seen->is_null()) continue;
    // Settings about containerd may name a file of a distribution, which is also detected on its own.
    const std::string kind = seen->value("kind", engine.name);
    if (!found.facts.contains(kind)) found.facts[kind] = *std::move(seen);
  }
  return found;
}

/// Returns the facts of the engines, with or without a GPU.
Result<Facts> read_engines(const RuntimeSettings& settings, const Host& host) {
  Facts facts;
  FoundEngines engines = find_engines(settings, host);
  const Json& found = engines.facts;
  // If the spec does not list engines, an engine that cannot be configured does not affect the others.
  if (!engines.problems.empty() && (found.empty() || !settings.engines.empty()))
    return std::move(engines.problems.front().second);
  if (found.empty()) return Facts::not_applicable("no container engine is installed");
  facts.set("settings", settings);
  for (const auto& [name, seen] : found.items()) facts.set(name, seen);
  for (const auto& [name, problem] : engines.problems) facts.set(kProblem + name, to_json(problem));
  SLIPWAY_TRY(low_level, read_low_level_runtime(found, host));
  if (!low_level.is_null()) facts.set("low_level", low_level);
  if (host.live() && !host.exists("/run/systemd/system")) facts.set("no_systemd", true);  // sd_booted(3)
  if (const auto hooks = legacy_hooks(host); !hooks.empty()) facts.set("legacy_hooks", hooks);
  return facts;
}

/// Notes an engine that is not changed, and why: the spec does not list engines, so the others are configured.
void note_left_out(const std::string& engine, const Error& problem, Plan& plan) {
  plan.note(engine + " is left as it is: " + problem.what + (problem.where.empty() ? "" : " (" + problem.where + ")") +
            (problem.next.empty() ? "" : "; " + problem.next));
}

/// Errors: those of an engine that the spec lists, else of the first one if none can be configured.
Status plan_engines(const RuntimeSettings& settings, const Facts& facts, bool live, Plan& plan) {
  std::optional<Error> first;
  bool any = false;
  bool is_left_out = false;  // an engine that may have been configured before, and is not changed
  for (const Engine& engine : engines()) {
    if (facts.has(kProblem + engine.name)) {
      note_left_out(engine.name, error_from_json(facts.value(kProblem + engine.name)), plan);
      is_left_out = true;
    }
    if (!facts.has(engine.name)) continue;
    Plan with = plan;
    if (const Status done = engine.plan(settings, facts.value(engine.name), live, with); done) {
      plan = std::move(with);
      any = true;
    } else if (!settings.engines.empty()) {
      return done;
    } else {
      note_left_out(engine.name, done.error(), plan);
      is_left_out = true;
      if (!first) first = done.error();
    }
  }
  if (any && is_left_out) plan.add(action::others_as_recorded());
  return any || !first ? Status() : Status(*std::move(first));
}

/// `mode: nri` does not use their configuration.
FoundEngines find_engines_of_nri(const RuntimeSettings& settings, const Host& host) {
  FoundEngines found;
  const auto facts = detect_nri(settings, host);
  if (!facts) found.problems.emplace_back("nri", facts.error());
  for (const Engine& engine : engines())
    if (facts && facts->has(engine.name)) found.facts[engine.name] = facts->value(engine.name);
  return found;
}

/// The severity of an engine that cannot be configured, for verify and doctor. It fails when the spec lists engines, or
/// when no engine is left; otherwise an apply configures the others and leaves this one as it is.
Finding::Status severity_of_problem(const RuntimeSettings& settings, bool has_others) {
  return settings.engines.empty() && has_others ? Finding::Status::warning : Finding::Status::fail;
}

bool is_containerd(const std::string& name) {
  return std::ranges::any_of(containerd_kinds(), [&](const ContainerdKind& kind) { return kind.name == name; });
}

}  // namespace

Result<Facts> Runtime::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  SLIPWAY_TRY(settings, read_settings(spec, process_environment));
  Facts facts;
  if (settings.untouched && !settings.nri) {
    facts.set("settings", settings);
  } else {
    SLIPWAY_TRY(engines, settings.nri ? detect_nri(settings, host) : read_engines(settings, host));
    facts = std::move(engines);
  }
  if (settings.untouched || settings.nri || starts_own_runtime(facts)) {
    SLIPWAY_TRY(warnings, config_warnings(settings, host));
    if (!warnings.empty()) facts.set("config_warnings", warnings);
  }
  return facts;
}

Result<Plan> Runtime::plan(const Spec&, const Facts& facts, const Inputs& inputs) const {
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  RuntimeSettings settings = facts.value("settings");
  settings.no_systemd = facts.flag("no_systemd");
  if (settings.nri) {
    SLIPWAY_TRY(nri, plan_nri(settings, facts, inputs.target().live));
    SLIPWAY_CHECK(expect_effect(settings, facts, nri));
    add_notes(settings, facts, nri);
    plan_low_level(Json(nullptr), settings, nri);
    add_outputs(settings, facts, nri);
    if (settings.replace_edits) return with_edits_replaced(nri, inputs.target().slipway);
    return nri;
  }
  Plan plan;
  SLIPWAY_CHECK(expect_effect(settings, facts, plan));
  add_notes(settings, facts, plan);
  if (settings.untouched)
    plan.note(
        "no engine is configured: `engines` is empty, or NO_RUNTIME_CONFIG is set; slipway removes what earlier "
        "applies wrote into the engines' configurations");
  SLIPWAY_CHECK(plan_engines(settings, facts, inputs.target().live, plan));
  plan_low_level(facts.value("low_level"), settings, plan);
  add_outputs(settings, facts, plan);
  if (!settings.requests.empty() && !settings.untouched && !starts_own_runtime(facts))
    plan.note("`requests` has no effect here: the engines give devices by themselves, without slipway-runtime");
  if (settings.replace_edits) return with_edits_replaced(plan, inputs.target().slipway);
  return plan;
}

Result<Findings> Runtime::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(settings, read_settings(spec, process_environment));
  if (settings.nri) return verify_nri(settings, host);
  if (settings.untouched) {
    Findings untouched;
    untouched.not_exercised("runtime.engines", "the spec keeps slipway from changing any engine");
    return untouched;
  }
  SLIPWAY_TRY(facts, read_engines(settings, host));
  Findings findings;
  if (starts_own_runtime(facts)) check_toolkit_config(settings, host, findings);
  for (const Engine& engine : engines()) {
    const std::string name = "runtime." + engine.name;
    if (facts.has(kProblem + engine.name))
      add_problem(severity_of_problem(settings, true), name, error_from_json(facts.value(kProblem + engine.name)),
                  findings);
    if (!facts.has(engine.name)) continue;
    Plan plan;
    if (const Status can = engine.plan(settings, facts.value(engine.name), host.live(), plan); !can) {
      add_problem(severity_of_problem(settings, true), name, can.error(), findings);
      continue;
    }
    const bool containerd = engine.plan == plan_containerd;
    const Json of_engine = facts.value(engine.name);
    if (engine.name == "docker" && docker_files_fail(name, of_engine, host, findings)) continue;
    if (containerd && !host.live() && containerd_files_fail(name, settings, of_engine, host, findings)) continue;
    if (!findings.on_live_machine(host, name)) continue;
    if (containerd)
      verify_containerd(name, settings, of_engine, host, findings);
    else
      verify_answers(name, of_engine, host, findings);
  }
  return findings;
}

Result<Findings> Runtime::diagnose(const Spec& spec, const Host& host) const {
  Findings findings;
  if (host.live()) diagnose_containers(host, RunningKernel::of(host), findings);
  const auto settings = read_settings(spec, process_environment);
  if (!settings) {
    add_problem(Finding::Status::fail, "runtime.settings", settings.error(), findings);
    return findings;
  }
  const FoundEngines found = settings->nri ? find_engines_of_nri(*settings, host) : find_engines(*settings, host);
  const auto severity = severity_of_problem(*settings, !settings->nri && !found.facts.empty());
  for (const auto& [name, problem] : found.problems) add_problem(severity, "runtime." + name, problem, findings);
  if (settings->nri || !find_program(host, "slipway-runtime").empty()) check_toolkit_config(*settings, host, findings);
  for (const std::string& path : legacy_hooks(host))
    findings.fail("runtime.legacy-hook", hook_sentence(path), kHookRemedy);
  for (const auto& [name, facts] : found.facts.items()) {
    if (name == "docker") diagnose_docker(facts, host, findings);
    if (is_containerd(name)) diagnose_containerd(name, facts, host, findings);
  }
  return findings;
}

Result<bool> Runtime::check(const Action& action, const Host& host) const { return check_engine(action, host); }

Result<Outcome> Runtime::apply(const Action& action, const Host& host) const { return expect_engine(action, host); }

const Commands* Runtime::commands() const {
  static const ToolTable tools(
      {{"configure", "adds a runtime for GPU containers to an engine's configuration", configure_line(), {}}});
  return &tools;
}

}  // namespace slipway::toolkit
