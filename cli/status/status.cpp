// SPDX-License-Identifier: Apache-2.0
#include "cli/status/status.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <unistd.h>

#include <slipway/text.hpp>

#include "app/edits.hpp"
#include "app/engine.hpp"
#include "app/image_log.hpp"
#include "app/machine/facts.hpp"
#include "app/recorded_apply.hpp"
#include "base/kernels/kernels.hpp"

namespace slipway::cli {
namespace {

/// The root's state, read once.
struct StoredState {
  std::map<std::string, core::Ownership> owned;
  std::optional<core::Generation> current;
  std::optional<core::HostSpec> spec;  ///< the generation's spec
  std::vector<int> generations;
  Json failing = Json::object();
  core::UnprovenChange unproven;
  core::Unfinished unfinished;
  std::map<std::string, core::ServiceState> services;
};

Result<StoredState> read_state(core::Session& session) {
  core::StateDir& state = session.state();
  state.go_without_closed();
  SLIPWAY_CHECK(state.go_around_damage());
  SLIPWAY_TRY(owned, state.ownerships());
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(generations, state.generations());
  SLIPWAY_TRY(failing, state.failing());
  SLIPWAY_TRY(unproven, state.unproven());
  SLIPWAY_TRY(unfinished, core::read_unfinished(session));
  std::optional<core::HostSpec> spec;
  if (current)
    if (auto read = core::spec_of(*current, session.plugins())) spec = std::move(*read);
  return StoredState{std::move(owned),   std::move(current),  std::move(spec),       std::move(generations),
                     std::move(failing), std::move(unproven), std::move(unfinished), core::ask_services(session)};
}

Json damage_of(core::Session& session, const StoredState& stored) {
  Json damaged = Json::array();
  for (const auto& [name, error] : session.state().left_out())
    damaged.push_back({{"path", std::string(core::kStateDir) + "/" + name}, {"problem", error.what}});
  if (const auto& journal = stored.unfinished.damaged)
    damaged.push_back({{"path", journal->where}, {"problem", journal->what}});
  return damaged;
}

/// Returns the root's log; skips unreadable parts.
std::vector<Json> events_of(const core::Session& session, const Options& options) {
  const HostConfig& host = session.host_config();
  if (host.live || host.root == "/") return app::logged_of_root(session, log_folder(options));
  const auto root = RootDir::open(host.root);
  return root ? app::read_log_of(*root).value_or({}) : std::vector<Json>{};
}

/// Adds the edits of things that the component owns: kept and accepted ones.
void add_edits(core::Session& session, const core::Ownership& ownership, const Json& accepted, Json& component) {
  std::vector<std::string> kept;
  std::vector<std::string> targets;
  for (const app::KeptEdit& each : app::kept_edits(session, ownership, accepted)) kept.push_back(each.edit.path);
  for (const auto& [item, acceptance] : accepted.items()) targets.push_back(item.substr(item.find(' ') + 1));
  if (!kept.empty()) component["edits"] = kept;
  if (!targets.empty()) component["accepted"] = targets;
}

bool replaces_edits(const core::Ownership& ownership) {
  return std::ranges::any_of(ownership.items,
                             [](const core::Owned& item) { return item.action.text("on_drift") == "replace"; });
}

void add_owned(core::Session& session, const StoredState& stored, Json& components) {
  const auto since =
      stored.current ? app::applied_since(session.state(), *stored.current) : std::map<std::string, std::string>{};
  for (const auto& [name, ownership] : stored.owned) {
    Json& component = components[name];
    component = {{"owns", ownership.items.size()}, {"outputs", ownership.outputs}, {"state", "applied"}};
    if (const auto found = since.find(name); found != since.end() && !found->second.empty())
      component["since"] = found->second;
    add_edits(session, ownership,
              stored.current ? stored.current->accepted.value(name, Json::object()) : Json::object(), component);
  }
}

/// Adds files that other programs rewrite, and that an apply of only this component restores each time.
void add_restored_files(const core::Session& session, const StoredState& stored, const std::vector<Json>& events,
                        Json& components) {
  const std::string boot_id(trimmed(session.host().read("/proc/sys/kernel/random/boot_id").value_or("")));
  for (const auto& [name, ownership] : stored.owned)
    if (replaces_edits(ownership))
      if (Json found = app::put_back(events, name, boot_id); !found.is_null())
        components[name]["put_back"] = std::move(found);
}

/// Adds applied components that own nothing here, such as those of an image whose work is done at boot.
void add_applied(const StoredState& stored, Json& components) {
  if (!stored.current) return;
  for (const auto& [name, plugin] : stored.current->plugins.items())
    if (!components.contains(name)) components[name] = {{"owns", 0}, {"outputs", Json::object()}, {"state", "applied"}};
}

void add_failing(const StoredState& stored, const std::vector<Json>& events, Json& components) {
  const auto since = app::failing_since(events, stored.failing);
  for (const auto& [name, record] : stored.failing.items()) {
    Json& component = components[name];
    const std::string state = record.value("state", "");
    component["failing"] = record;
    component["state"] = state;
    component.erase("since");
    if (const auto found = since.find(name); found != since.end()) component["since"] = found->second;
  }
}

/// Returns the service's state with verify's result: a stopped service that nothing could start is not a failure.
Json service_json(const core::Session& session, const std::string& name, const core::ServiceState& state) {
  Json service = core::to_json(state);
  const Finding finding = core::service_finding(session, name, state);
  service["finding"] = to_string(finding.status);
  if (state.is == core::ServiceState::Is::absent && finding.status != Finding::Status::fail)
    service["text"] = finding.text;
  return service;
}

/// Adds components whose record cannot be read.
void add_damaged(core::Session& session, Json& components) {
  constexpr std::string_view kFolder = "components/", kEnding = ".json";
  for (const auto& [file, error] : session.state().left_out())
    if (file.starts_with(kFolder) && file.ends_with(kEnding))
      components[file.substr(kFolder.size(), file.size() - kFolder.size() - kEnding.size())]["state"] = "damaged";
}

/// Adds applied components without a plugin, which can be neither verified nor completed by a boot.
void add_without_plugin(const StoredState& stored, Json& components) {
  if (!stored.spec) return;
  for (const auto& [name, error] : stored.spec->unusable) {
    components[name]["state"] = core::to_string(core::ComponentState::failed);
    components[name]["plugin"] = {{"problem", error.what}, {"do", error.next}};
  }
}

Json components_of(core::Session& session, const Options& options, const StoredState& stored) {
  Json components = Json::object();
  add_owned(session, stored, components);
  if (session.state().left_out().empty()) add_applied(stored, components);
  for (const auto& [name, service] : stored.services)
    components[name]["service"] = service_json(session, name, service);
  const bool replaces = session.host_config().live && std::ranges::any_of(stored.owned, [](const auto& owned) {
                          return replaces_edits(owned.second);
                        });
  const std::vector<Json> events =
      stored.failing.empty() && !replaces ? std::vector<Json>{} : events_of(session, options);
  if (replaces) add_restored_files(session, stored, events, components);
  add_failing(stored, events, components);
  if (const std::string problem = core::boot_failure(session.host()); !problem.empty()) {
    components[core::kBootComponent]["failing"] = {{"state", "failed"}, {"reason", problem}};
    components[core::kBootComponent]["state"] = "failed";
  }
  if (stored.current)
    for (const std::string& name : stored.current->left_out)
      if (!components[name].contains("state")) components[name]["state"] = "left-out";
  add_without_plugin(stored, components);
  add_damaged(session, components);
  for (auto& [name, component] : components.items())
    if (!component.contains("state")) component["state"] = session.state().is_closed() ? "unknown" : "not-applied";
  return components;
}

/// Returns verify's finding about the GPUs that the spec expects; null when it expects none, or they cannot be counted
/// yet. Reads the root's own spec first, as verify does: when no GPU was found, there may be no generation.
Json expectation_of(core::Session& session, const Options& options, const StoredState& stored,
                    const std::set<std::string>& silent) {
  std::optional<core::HostSpec> spec = stored.spec;
  if (auto own = load_spec(session, options)) spec = std::move(own->spec);
  const auto finding = spec ? core::check_expectation(session, spec->expected, silent) : std::nullopt;
  if (!finding || finding->status == Finding::Status::not_exercised) return {};
  return {{"status", to_string(finding->status)}, {"text", finding->text}, {"remedy", finding->remedy}};
}

/// Services watch the GPUs all the time, and their reports are part of the status. Without a running service this asks
/// the components.
std::map<std::string, Findings> gpu_findings(core::Session& session, const StoredState& stored) {
  constexpr std::chrono::seconds kLimit{4};
  const bool is_watched = std::ranges::any_of(
      stored.services, [](const auto& service) { return service.second.is == core::ServiceState::Is::working; });
  const bool is_idle = stored.unfinished.at_work.empty();  // an apply may be changing the GPUs
  if (is_watched || !is_idle || !stored.spec || core::gpus_on_bus(session).empty()) return {};
  return check_gpus(session, *stored.spec, kLimit);
}

/// One entry for each GPU that does not work: {"problem", "do"}. A job's own errors are not among them.
Json gpu_problems(const std::map<std::string, Findings>& findings) {
  Json problems = Json::array();
  for (const core::CauseEntry& entry : core::entries_of(findings)) {
    const bool is_lost = entry.head->cause == core::kGpuCause || entry.head->cause.ends_with("/lost");
    if (entry.worst() == Finding::Status::fail || is_lost)
      problems.push_back({{"problem", entry.head->text}, {"do", entry.head->remedy}});
  }
  return problems;
}

/// Returns the spec option that `slipway apply` needs when the root has no spec of its own: that of the last apply, if
/// its file exists.
std::string the_spec(core::Session& session, const Options& options, const StoredState& stored) {
  if (session.host().exists("/etc/slipway/host.yaml")) return "";
  if (!stored.current && !session.state().is_closed())
    return " -f " + core::shell_word(app::spec_of_last_apply(session, log_folder(options)).value_or("SPEC"));
  const std::string last = stored.current ? stored.current->spec_file : "";
  return " -f " + (last.starts_with('/') && ::access(last.c_str(), R_OK) == 0 ? core::shell_word(last) : "SPEC");
}

/// The next steps for the user, the most urgent first: {"problem", "do"}.
class NextSteps {
 public:
  NextSteps(core::Session& session, const Options& options, const StoredState& stored, std::string next_kernel)
      : session_(session),
        stored_(stored),
        spec_(the_spec(session, options, stored)),
        failure_(stored.current ? "" : app::failure_of_last_apply(session, log_folder(options))),
        next_kernel_(std::move(next_kernel)) {}

  Json list(const Json& damaged, const Json& components, const Json& expect, const Json& gpu_problems) {
    for (const Json& each : gpu_problems) steps_.push_back(each);
    if (expect.is_object() && expect.value("status", "") != "pass")
      add(expect.value("text", ""), expect.value("remedy", ""));
    if (const Json full = app::full_disk(session_); full.is_object())
      add(full.value("problem", ""), full.value("do", ""));
    if (!damaged.empty())
      add(damaged.size() == 1 ? "a record is damaged" : std::to_string(damaged.size()) + " records are damaged",
          "run `slipway repair`: it moves damaged records aside and restores what can be restored");
    if (!stored_.unfinished.at_work.empty())
      add("another slipway is changing this root: " + stored_.unfinished.at_work, "wait until that slipway has ended");
    const std::string apply = "`slipway apply" + spec_ + "`";
    if (stored_.unfinished.recovery)
      add("an apply was cut off", "run " + apply + ": it undoes the open changes first");
    else if (!stored_.unfinished.pending.empty() && stored_.unfinished.at_work.empty())
      add("still pending: " + joined(stored_.unfinished.pending, ", "), "run " + apply);
    if (const std::string problem = core::apply_unit_failure(session_.host()); !problem.empty())
      add(problem, core::kStartApplyUnitAgain);
    if (const std::string problem = core::verify_unit_failure(session_.host()); !problem.empty())
      add(problem, core::kVerifyBootAgain);
    if (const std::string problem = core::late_verify_failure(session_.host()); !problem.empty())
      add(problem, core::kVerifyLateAgain);
    for (const auto& [name, component] : components.items()) add_component(name, component, apply);
    for (const auto& [name, ownership] : stored_.owned) add_next_boot(name, ownership);
    add_reasons();
    if (!lost_.empty())
      add("the " + std::string(lost_.size() == 1 ? "record of " : "records of ") + listed(lost_, "and") +
              (lost_.size() == 1 ? " was" : " were") + " lost",
          "run " + apply + ": it takes over whatever matches the plan");
    if (!edited_.empty())
      add(listed(edited_, "and") + (edited_.size() == 1 ? " has" : " have") + " kept edits",
          "`slipway plan" + spec_ + "` names the commands that replace or accept them");
    if (session_.state().is_closed())
      add("this user may not read slipway's records of this root", "run `slipway status` as root (sudo)");
    else if (!stored_.current && stored_.owned.empty() && damaged.empty() && steps_.empty() && !failure_.empty())
      add("nothing is provisioned: the first apply failed (" + failure_ + ")", "correct the cause, then run " + apply);
    else if (!stored_.current && stored_.owned.empty() && damaged.empty() && steps_.empty())
      add("nothing is provisioned",
          "write a spec with `slipway init > host.yaml`, and apply it with `slipway apply -f host.yaml`");
    return steps_;
  }

 private:
  void add(const std::string& problem, const std::string& remedy) {
    steps_.push_back({{"problem", problem}, {"do", core::advised(remedy, session_.options())}});
  }

  /// @param apply  the command for a component that is applied as in the generation
  void add_component(const std::string& name, const Json& component, std::string apply) {
    const std::string failed = core::failing_spec(component.value("failing", Json::object()));
    const std::string spec = failed.empty() ? spec_ : failed;
    if (!failed.empty()) apply = "`slipway apply" + failed + "`";
    const std::string state = component.value("state", "");
    if (component.contains("plugin"))
      add(component["plugin"].value("problem", ""), component["plugin"].value("do", ""));
    else if (name == core::kBootComponent && state == "failed" && !component["failing"].contains("error"))
      add(core::failing_text(component["failing"]), "look at `journalctl -u slipway-boot.service`");
    else if (state == core::to_string(core::ComponentState::waiting) &&
             component["failing"].value("unreachable", false))
      add(name + " waits for its source, which does not answer",
          "`slipway apply --wait-for-source" + spec + "` continues when the source answers");
    else if (state == core::to_string(core::ComponentState::waiting))
      add(name + " waits", "stop what is in its way; then `slipway apply --wait" + spec + "` continues");
    else if (state == core::to_string(core::ComponentState::reboot_required))
      add(name + " needs a reboot", "reboot");
    else if (component.contains("failing") && component["failing"].value("removal", false))
      add(name + " could not be removed", "`slipway remove " + name + "` tries again, " + apply + " keeps it");
    else if (component.contains("failing") && component["failing"].contains("findings") && service_works(name))
      add(name + " did not work after the last apply, but its service works now", apply + " checks it again");
    else if (component.contains("failing"))
      add(name + (state == "failed" ? " failed" : " is " + state),
          (component["failing"].contains("findings") ? "`slipway doctor` tells whether the component works now, "
                                                     : "`slipway doctor` says more, ") +
              apply + " tries again");
    if (const auto service = stored_.services.find(name); service != stored_.services.end())
      if (const Finding finding = core::service_finding(session_, name, service->second);
          finding.status == Finding::Status::fail)
        steps_.push_back({{"problem", name + ": " + finding.text}, {"do", finding.remedy}});
    if (component.contains("edits")) edited_.push_back(name);
    if (const auto owned = stored_.owned.find(name); owned != stored_.owned.end() && owned->second.lost)
      lost_.push_back(name);
  }

  /// The service's own report is newer than the result of the last apply.
  bool service_works(const std::string& name) const {
    const auto service = stored_.services.find(name);
    return service != stored_.services.end() && service->second.is == core::ServiceState::Is::working &&
           service->second.reasons.empty();
  }

  /// Adds a step when its modules are for other kernels than the one that boots next.
  void add_next_boot(const std::string& name, const core::Ownership& ownership) {
    std::set<std::string> kernels;
    for (const core::Owned& item : ownership.items)
      for (const core::Trigger& trigger : core::triggers_of(item.action))
        if (trigger.kind == core::Trigger::Kind::depmod) kernels.insert(trigger.argument);
    if (!kernels.empty() && !next_kernel_.empty() && !kernels.contains(next_kernel_))
      add(name + " has no modules for kernel " + next_kernel_ + ", which boots next",
          "`slipway doctor " + name + "` says what to do");
  }

  /// The remedies for problems that services report are in the findings of doctor.
  void add_reasons() {
    std::vector<std::string> reporting;
    for (const auto& [name, service] : stored_.services)
      if (!service.reasons.empty()) reporting.push_back(name);
    if (!reporting.empty())
      add("the " + std::string(reporting.size() == 1 ? "service of " : "services of ") + listed(reporting, "and") +
              (reporting.size() == 1 ? " reports" : " report") + " a problem",
          "`slipway doctor` says what to do");
  }

  core::Session& session_;
  const StoredState& stored_;
  std::string spec_;
  std::string failure_;      ///< of the first apply, which left nothing
  std::string next_kernel_;  ///< the boot loader's choice; empty: unknown
  std::vector<std::string> edited_;
  std::vector<std::string> lost_;
  Json steps_ = Json::array();
};

}  // namespace

Result<Json> status_of(core::Session& session, const Options& options) {
  SLIPWAY_TRY(stored, read_state(session));
  const Json damaged = damage_of(session, stored);
  const Json components = components_of(session, options, stored);
  const Json kernel = app::kernel_facts(session);
  const auto gpus = gpu_findings(session, stored);
  const Json problems = gpu_problems(gpus);
  const Json expect = expectation_of(session, options, stored, core::silent_gpus(gpus));
  Json status{
      {"host", app::host_facts(session)},
      {"kernel", kernel},
      {"devices", app::device_facts(session)},
      {"components", components},
      {"damaged", damaged},
      {"generation", stored.current ? stored.current->number : 0},
      {"generations", stored.generations},
      {"next",
       NextSteps(session, options, stored, kernel.value("next", "")).list(damaged, components, expect, problems)},
      {"at_work", stored.unfinished.at_work},
      {"pending", stored.unfinished.pending},
      {"recovery", stored.unfinished.recovery}};
  if (expect.is_object()) status["expect"] = expect;
  if (stored.unproven.waits())
    status["unproven"] = {{"before", stored.unproven.before},
                          {"failed", stored.unproven.failed},
                          {"generation", stored.unproven.generation}};
  if (!problems.empty()) status["gpu_problems"] = problems;
  if (session.state().is_closed()) status["without_records"] = true;
  if (stored.current) {
    status["spec_file"] = stored.current->spec_file;
    if (!stored.current->time.empty()) status["since"] = stored.current->time;
  } else if (session.state().leaves_out("generations/current")) {
    status["generation_unreadable"] = true;
  }
  return envelope("Status", std::move(status));
}

Result<int> run_status(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(status, status_of(*session, options));
  if (options.output == "text")
    print_wrapped(status_page(status, std::time(nullptr)));
  else
    print(json_text(status, options.output));
  const bool lacks_gpus = status.contains("expect") && status["expect"].value("status", "") == "fail";
  return status["damaged"].empty() && !lacks_gpus ? core::kExitDone : core::kExitError;
}

}  // namespace slipway::cli
