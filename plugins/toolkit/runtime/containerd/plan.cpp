// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/plan.cpp - containerd's target state: handlers, the default one, the CDI switch.
#include <algorithm>

#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/containerd/facts.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kBase = "{{ template \"base\" . }}\n\n";

/// The result of facts and settings together.
struct DesiredConfig {
  KeyPath plugin;
  int number = 2;
  Json handler;
  std::string runc;  ///< type of the handler runc, if it must be set
  std::vector<std::string> names;
  bool cdi = false;
  bool as_default = false;
};

Json tables_of(const DesiredConfig& desired) {
  Json set = Json::object();
  for (const std::string& name : desired.names)
    set_path(set, desired.plugin + KeyPath{"containerd", "runtimes", name}, desired.handler);
  if (!desired.runc.empty() && std::ranges::count(desired.names, "runc") == 0)
    set_path(set, desired.plugin + KeyPath{"containerd", "runtimes", "runc", "runtime_type"}, desired.runc);
  if (desired.as_default)
    set_path(set, desired.plugin + KeyPath{"containerd", "default_runtime_name"}, desired.names.front());
  if (desired.cdi) set_path(set, desired.plugin + KeyPath{"enable_cdi"}, true);
  return set;
}

Action& plan_merge(const DesiredConfig& desired, const ContainerdEdit& edit, Plan& plan) {
  Json set = tables_of(desired);
  if (edit.has_version && desired.number > 1) set["version"] = desired.number;
  return plan.add(action::merge({.path = edit.path, .format = "toml", .set = set}));
}

/// Writes slipway's own file; with the plugin's whole table if containerd takes it from one file only.
Action& plan_file(const DesiredConfig& desired, const ContainerdEdit& edit, Plan& plan) {
  Json content{{"version", desired.number}};
  if (edit.table.is_object()) set_path(content, desired.plugin, edit.table);
  content.merge_patch(tables_of(desired));
  if (!edit.imports.is_null()) {
    Json set{{"imports", edit.imports}};
    if (!edit.top_version.is_null()) set["version"] = edit.top_version;
    plan.add(action::merge({.path = edit.top, .format = "toml", .set = set}))
        .because("so that " + edit.path + " is read");
  }
  return plan.add(action::file({.path = edit.path, .content = kOwnHead + to_toml(content)}));
}

/// Appends only tables that the text of K3s or RKE2 does not have.
Action* plan_template(DesiredConfig desired, const ContainerdFacts& facts, bool cdi_by_default, Plan& plan) {
  const std::string& title = facts.title;
  for (const std::string& name : facts.edit.left_out) {
    std::erase(desired.names, name);
    plan.note(title + " adds the handler " + name + " by itself, because NVIDIA's runtime is installed");
  }
  if (desired.as_default)
    plan.note(title + " takes the default handler from its own option: start it with --default-runtime NAME");
  if (desired.cdi && !cdi_by_default && !facts.cdi_is_on)
    plan.note("CDI stays off in " + title + ": its template cannot switch it on; update it, or use a runtime program");
  if (desired.names.empty()) return nullptr;
  desired.cdi = desired.as_default = false;
  const std::string content = kOwnHead + std::string(kBase) + to_toml(tables_of(desired));
  return &plan.add(action::file({.path = facts.edit.path, .content = content}));
}

}  // namespace

Json inherit_containerd_handler(const Json& base, const std::string& binary, bool version_1) {
  Json handler = base.is_object() ? base : Json::object();
  if (text_of(handler, "runtime_type").empty()) handler["runtime_type"] = kRuncType;
  if (!binary.empty()) {
    set_path(handler, {"options", "BinaryName"}, binary);
    if (version_1) set_path(handler, {"options", "Runtime"}, binary);
  }
  return handler;
}

Status plan_containerd(const RuntimeSettings& settings, const Json& json, bool live, Plan& plan) {
  const auto facts = json.get<ContainerdFacts>();
  const EngineVersion engine = facts.engine();
  const ContainerdEdit& edit = facts.edit;
  if (edit.kind == "none") {
    for (const std::string& note : facts.notes) plan.note(note);
    return {};
  }
  const bool knows_cdi = !engine.known() || engine >= kContainerdWithCdi;
  const bool by_default = engine.known() && engine >= kContainerdWithVersion3;
  const bool cdi_works = settings.cdi && knows_cdi && (edit.kind != "template" || by_default || facts.cdi_is_on);
  if (facts.runtime.empty() && !cdi_works) return needs_runtime(facts.title, facts.version);
  DesiredConfig desired{.plugin = cri_plugin(facts.config_version),
                        .number = facts.config_version,
                        .handler = {},
                        .runc = facts.runc,
                        .names = settings.names,
                        .cdi = settings.cdi && knows_cdi,
                        .as_default = settings.set_as_default};
  desired.handler = inherit_containerd_handler(facts.base, facts.runtime, desired.number == 1);
  if (!settings.runtime_type.empty()) desired.handler["runtime_type"] = settings.runtime_type;
  for (const std::string& note : facts.notes) plan.note(note);
  const EngineChecks checks(facts.title, json, settings, live);
  if (facts.checkable)
    checks.add_config_check("containerd", plan,
                            {{"path", edit.path}, {"plugin", desired.plugin}, {"names", desired.names}});
  Action* change = edit.kind == "template" ? plan_template(desired, facts, by_default, plan)
                   : edit.kind == "file"   ? &plan_file(desired, edit, plan)
                                           : &plan_merge(desired, edit, plan);
  if (change == nullptr) return {};
  checks.restart_after(*change, "pods with the runtime class " + settings.names.front() + ", and devices by CDI");
  checks.add_answer_check(plan);
  return {};
}

}  // namespace slipway::toolkit
