// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/check_plugin.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <unistd.h>

#include <slipway/text.hpp>

#include "base/write/scratch_folder.hpp"
#include "core/exit_code.hpp"
#include "core/loader/installation.hpp"
#include "core/loader/plugin_file.hpp"
#include "core/spec/yaml_value.hpp"
#include "core/worker/client/spawn.hpp"
#include "core/worker/client/worker.hpp"
#include "plugin-check/installed_plugins.hpp"
#include "plugin-check/plugin_clashes.hpp"
#include "plugin-check/purity.hpp"
#include "plugin-check/trial.hpp"

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMachines = 4;  // named in one message
constexpr unsigned kMostKills = 8;        // of one apply or removal; evenly distributed over its steps
constexpr const char* kPure = "detect, plan and verify may only read: put every change into the plan as an action";
constexpr std::chrono::seconds kAnswerLimit{30};

/// Copies the plugin and the library of its services into an otherwise empty folder, for slipway to use.
Status copy_plugin(const std::string& file, const std::string& folder) {
  std::error_code code;
  fs::create_directory(folder, code);
  fs::copy_file(file, folder + "/" + fs::path(file).filename().string(), code);
  if (code) return system_error("copy", file, code.value());
  const fs::path service = fs::path(file).replace_extension(".service.so");
  if (fs::exists(service, code)) fs::copy_file(service, folder + "/" + service.filename().string(), code);
  return code ? Status(system_error("copy", service.string(), code.value())) : Status{};
}

/// Returns this process' environment with these plugins, and with a temporary folder, which receives the remains of a
/// killed slipway.
std::vector<std::string> environment_with(const std::string& plugins, const std::string& temporary) {
  std::vector<std::string> list{"SLIPWAY_PLUGIN_PATH=" + plugins, "TMPDIR=" + temporary};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "SLIPWAY_PLUGIN_PATH=", 20) != 0 && std::strncmp(*entry, "TMPDIR=", 7) != 0)
      list.emplace_back(*entry);
  return list;
}

/// A finding is one line; joins the lines of a message.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const std::string& part : lines_of(text)) {
    if (!line.empty()) line += line.ends_with(":") ? " " : "; ";
    line += trimmed(part);
  }
  return line;
}

/// Returns the value of --sim with the file's absolute path, if it names a file.
std::string from_anywhere(const std::string& sim) {
  const std::string file = sim.substr(0, sim.find(','));
  if (file.find('/') == std::string::npos && !file.ends_with(".yaml")) return sim;
  return fs::absolute(file).string() + sim.substr(file.size());
}

class PluginCheck {
 public:
  PluginCheck(const PluginTrial& trial, std::string folder) : trial_(trial), folder_(std::move(folder)) {}

  Result<PluginReport> run() {
    SLIPWAY_TRY(file, core::read_plugin_file(trial_.file));
    for (const core::Manifest& manifest : file.components) report_.components.push_back(manifest.component);
    SLIPWAY_CHECK(services(file));
    const std::vector<core::PluginFile> others = plugins_beside(file, report_.findings);
    find_unknown_order(file, others, report_.findings);
    SLIPWAY_TRY(program, core::own_program("slipway-engine"));
    program_ = program;
    SLIPWAY_CHECK(copy_plugin(file.path, folder_ + "/plugins"));
    std::string plugins = folder_ + "/plugins";
    if (!trial_.spec.empty()) {  // the spec may have components of other plugins
      const std::vector<std::string> folders = core::plugin_folders(true);
      const auto holds_file = [&](const std::string& other) {
        std::error_code code;
        return fs::equivalent(other, fs::path(file.path).parent_path(), code);
      };
      if (std::ranges::any_of(folders, holds_file)) plugins.clear();  // the plugin is installed in one of these folders
      for (const std::string& other : folders) plugins += (plugins.empty() ? "" : ":") + fs::absolute(other).string();
    }
    const std::string temporary = folder_ + "/tmp";
    std::error_code code;
    if (!fs::create_directory(temporary, code)) return system_error("make", temporary, code.value());
    environment_ = environment_with(plugins, temporary);
    SLIPWAY_CHECK(choose_spec(file));
    SLIPWAY_TRY(planned, fresh_host());
    if (!items_.actions.empty()) SLIPWAY_CHECK(beside(file, others));
    if (planned) {
      SLIPWAY_CHECK(killed_apply());
      SLIPWAY_CHECK(killed_removal());
      SLIPWAY_CHECK(foreign_files());
    }
    SLIPWAY_CHECK(apply_and_remove("plugin.no-hardware", "empty",
                                   "without its hardware a component is not applicable: detect returns "
                                   "Facts::not_applicable(why), and verify has no failure"));
    SLIPWAY_CHECK(apply_and_remove("plugin.offline-root", "",
                                   "an image has no running kernel: when has_kernel_view() is false, plan for the "
                                   "machine that will boot the image"));
    live_only();
    return std::move(report_);
  }

 private:
  void pass(const std::string& name, const std::string& text) { report_.findings.pass("plugin." + name, text); }
  /// Reports the message of a run once: later findings with the same cause name the first one.
  void fail(const std::string& name, const std::string& text, const std::string& remedy) {
    const std::size_t end = std::min(text.find(":\n"), text.size());
    const auto [first, is_new] = causes_.emplace(text.substr(end), name);
    if (end == text.size() || is_new)
      report_.findings.fail("plugin." + name, in_one_line(text), remedy);
    else
      report_.findings.fail("plugin." + name, text.substr(0, end) + ", for the same reason as plugin." + first->second,
                            "see that finding");
  }

  Status services(const core::PluginFile& file) {
    for (const core::Manifest& manifest : file.components) {
      if (manifest.service == core::Manifest::ServiceIn::none) continue;
      const auto service = core::service_file(file, manifest);
      if (service)
        pass("service", "the service of " + manifest.component + " is in " + service->path);
      else
        fail("service", service.error().what, service.error().next);
      if (!manifest.declares_needs)
        report_.findings.warning("plugin.service-needs",
                                 "the manifest declares no service_needs for " + manifest.component +
                                     ": its unit gives the service no network, no devices and no folder to write to",
                                 "write what the service needs into the manifest, or `service_needs: {}`");
    }
    return {};
  }

  /// Checks that a component with custom actions also implements them.
  Status custom_actions() {
    if (!items_.kinds.contains("custom")) return {};
    core::WorkerOptions options;
    options.plugin_path = trial_.file;
    options.name = report_.components.front();
    SLIPWAY_TRY(worker, core::start_worker(options));
    const auto known = worker->call("components", Json::object(), kAnswerLimit, {});
    if (!known) return {};  // built with an SDK that does not report the component's calls
    std::set<std::string> told;
    for (const Json& action : items_.actions) {
      const std::string component = action["component"];
      if (action.value("kind", "") != "custom" || !told.insert(component).second) continue;
      for (const char* call : {"check", "apply"})
        if (!known->value(component, Json::object()).value(call, true))
          fail("custom",
               component + " plans the custom action '" + action.value("target", "") + "' and has no " + call + "()",
               std::string("check() tells whether the action is done already, apply() performs it: override ") + call +
                   "()");
    }
    return {};
  }

  Status beside(const core::PluginFile& file, const std::vector<core::PluginFile>& others) {
    SLIPWAY_TRY(host, trial("beside", trial_.sim));
    return plan_beside({.plugin = file,
                        .others = others,
                        .host = host,
                        .folder = folder_ + "/beside-plugins",
                        .spec = trial_.spec.empty() ? "" : spec_,
                        .items = items_},
                       report_.findings);
  }

  /// Uses the user's spec, else one of the defaults and examples.
  Status choose_spec(const core::PluginFile& file) {
    if (!trial_.spec.empty()) {
      spec_ = fs::absolute(trial_.spec).string();
      return {};
    }
    spec_ = folder_ + "/host.yaml";
    std::vector<const core::Manifest*> manifests;
    for (const core::Manifest& manifest : file.components) manifests.push_back(&manifest);
    std::ofstream out(spec_);
    out << core::init_text(manifests, {}, "trial");
    out.close();
    return out ? Status{} : Status(system_error("write", spec_, EIO));
  }

  Result<Trial> trial(const std::string& name, const std::string& sim) {
    const std::string root = folder_ + "/" + name;
    if (trial_.root.empty())
      SLIPWAY_CHECK(make_trial_root(root));
    else
      SLIPWAY_CHECK(copy_trial_root(trial_.root, root));
    return Trial(program_, environment_, spec_, root, from_anywhere(sim));
  }

  /// Runs detect and plan twice. @return true when there is a plan
  Result<bool> plans(const Trial& trial) {
    const Picture before = trial.picture();
    SLIPWAY_TRY(detected, trial.detect());
    if (detected.exit_code != core::kExitDone) {
      fail("detect", "detect fails on a fresh " + trial_.sim + output_of(detected),
           "fix the error; an Error should tell users what to do");
      return false;
    }
    SLIPWAY_TRY(first, trial.plan());
    if (first.exit_code != core::kExitChanges && first.exit_code != core::kExitDone) {
      fail("plan", "there is no plan for a fresh " + trial_.sim + output_of(first),
           trial_.spec.empty() ? "nothing was tested: the spec was made of the manifest's defaults and examples; give "
                                 "a spec with -f, and with --root a root that has the files which the plugin needs"
                               : "");
      return false;
    }
    items_ = items_of(first.result, report_.components);
    SLIPWAY_TRY(impure, impurities({.host = trial,
                                    .folder = folder_,
                                    .components = report_.components,
                                    .detected = detected,
                                    .planned = first}));
    for (const Impurity& each : impure) fail(each.finding, each.text, each.remedy);
    SLIPWAY_CHECK(custom_actions());
    if (const std::string touched = difference(before, trial.picture()); !touched.empty())
      fail("plan", "detect, plan or verify changed the root; " + touched, kPure);
    else if ((!items_.kinds.empty() || every_component_plans(items_)) && impure.empty())
      pass("plan", std::to_string(items_.kinds.size()) + (items_.kinds.size() == 1 ? " kind" : " kinds") +
                       " of actions; the plan is the same in another environment");
    return !items_.kinds.empty();
  }

  /// Checks that every component plans something: a component without actions was not tested. @param items of the first
  /// plan, or of the plan after the apply, in which no component waits for another one any more
  bool every_component_plans(const PlanItems& items) {
    bool all = true;
    for (const std::string& name : report_.components) {
      const auto planned = items.of.find(name);
      if (planned == items.of.end() && !items.of.empty()) {
        report_.findings.not_exercised("plugin.plan", "the spec has no " + name + ", so this component is not tested");
      } else if (planned == items.of.end() || planned->second == 0) {
        all = false;
        const auto why = items.why_not.find(name);
        fail("plan",
             name + " plans nothing for a fresh " + trial_.sim + ", so it is not tested" +
                 (why == items.why_not.end() ? "" : ": " + why->second),
             "give it what it needs: a machine (--sim " + machines_for(name) +
                 "), a root to copy (--root DIR), a spec (-f FILE)");
      }
    }
    return all;
  }

  /// Names the simulated machines on which the component has work, for a message.
  std::string machines_for(const std::string& component) {
    std::vector<std::string> fit;
    for (const std::string& machine : split<std::string>(SLIPWAY_SIM_PROFILES, ' ')) {
      if (machine == trial_.sim) continue;
      const auto host = trial("machine-" + machine, machine);
      if (!host) continue;
      const auto detected = host->detect();
      const Json components = detected ? detected->result.value("components", Json::object()) : Json::object();
      if (components.value(component, Json::object()).value("applicable", false)) fit.push_back(machine);
    }
    if (fit.empty()) return "FILE, a profile of your own: the component has nothing to do on any of slipway's machines";
    return "PROFILE: the component has something to do on " + first_few(fit, kMostMachines);
  }

  /// @return true when the apply succeeded, so that other results can be compared with it
  Result<bool> fresh_host() {
    SLIPWAY_TRY(fresh, trial("fresh-host", trial_.sim));
    before_ = fresh.picture();
    SLIPWAY_TRY(planned, plans(fresh));
    if (!planned) return false;
    SLIPWAY_TRY(apply, fresh.apply());
    if (!applied(apply)) {
      fail("fresh-host", "apply fails on a fresh " + trial_.sim + output_of(apply),
           "see the error; `slipway apply -v` says more");
      return false;
    }
    pass("fresh-host", "applied in " + std::to_string(apply.steps) + " steps");
    steps_ = apply.steps;
    after_ = fresh.picture();
    SLIPWAY_CHECK(second_run(fresh));
    SLIPWAY_CHECK(verified(fresh));
    SLIPWAY_TRY(removed, fresh.remove());
    removal_steps_ = removed.steps;
    check_removed("remove", fresh, removed, before_);
    return true;
  }

  Status second_run(const Trial& fresh) {
    SLIPWAY_TRY(plan, fresh.plan());
    (void)every_component_plans(items_of(plan.result, report_.components));
    SLIPWAY_TRY(apply, fresh.apply());
    const std::string touched = difference(after_, fresh.picture());
    if (plan.exit_code != core::kExitDone)
      fail("second-run",
           "a second run would change something:" + open_changes(plan.result, items_, report_.components) +
               output_of(plan),
           "after an apply, a new plan must have nothing to do: does the plan depend on what the apply changed?");
    else if (!applied(apply) || !touched.empty())
      fail("second-run", "a second apply changes something; " + touched + output_of(apply),
           "the same facts must give the same plan");
    else
      pass("second-run", "a second run has nothing to do and changes nothing");
    return {};
  }

  Status verified(const Trial& fresh) {
    SLIPWAY_TRY(verify, fresh.verify());
    std::size_t findings = 0;
    const Json components = verify.result.value("components", Json::object());
    for (const std::string& name : report_.components)
      for (const Json& finding : components.value(name, Json::array()))
        findings += finding.value("name", "") == name + ".owned" ? 0U : 1U;  // slipway itself adds this finding
    if (verify.exit_code != core::kExitDone)
      fail("verify", "verify does not pass right after the apply" + output_of(verify) + failed_findings(components),
           "report as not_exercised, not as a failure, what can only be checked on a running machine");
    else if (const std::string touched = difference(after_, fresh.picture()); !touched.empty())
      fail("verify", "verify changed the root; " + touched, kPure);
    else if (findings == 0)
      report_.findings.not_exercised(
          "plugin.verify",
          "the plugin adds no findings of its own: verify only checks that the planned files are unchanged");
    else
      pass("verify", std::to_string(findings) + (findings == 1 ? " finding" : " findings") + ", none failed");
    return {};
  }

  /// Returns the steps to kill at: all of them, or some, evenly distributed.
  static std::set<unsigned> chosen(unsigned steps) {
    std::set<unsigned> list;
    const unsigned count = std::min(steps, kMostKills);
    for (unsigned i = 0; i < count; ++i) list.insert(1 + i * steps / count);
    return list;
  }

  Status killed_apply() {
    unsigned killed = 0;
    for (const unsigned step : chosen(steps_)) {
      SLIPWAY_TRY(host, trial("killed-at-" + std::to_string(step), trial_.sim));
      SLIPWAY_TRY(cut, host.apply(step));
      killed += cut.killed ? 1U : 0U;
      SLIPWAY_TRY(again, host.apply());
      const std::string other = difference(after_, host.picture());
      if (!applied(again) || !other.empty()) {
        fail("killed",
             "an apply that was killed at step " + std::to_string(step) +
                 " and repeated does not have the same result; " + other + output_of(again),
             "put everything that an apply does into the plan's actions; apply() of a custom action may be called a "
             "second time");
        return {};
      }
    }
    pass("killed",
         "killed at " + std::to_string(killed) + " steps of an apply; each time the next apply had the usual result");
    return {};
  }

  Status killed_removal() {
    unsigned killed = 0;
    for (const unsigned step : chosen(removal_steps_)) {
      SLIPWAY_TRY(host, trial("removal-killed-at-" + std::to_string(step), trial_.sim));
      SLIPWAY_TRY(apply, host.apply());
      SLIPWAY_TRY(cut, host.remove(step));
      killed += cut.killed ? 1U : 0U;
      SLIPWAY_TRY(again, host.remove());
      const std::string other = difference(before_, host.picture());
      if (!applied(apply) || !applied(again) || !other.empty()) {
        fail("killed-removal",
             "a removal that was killed at step " + std::to_string(step) + " and repeated leaves the host different; " +
                 other + output_of(again),
             "removal undoes the plan's actions and restores what each of them replaced");
        return {};
      }
    }
    pass("killed-removal", "killed at " + std::to_string(killed) +
                               " steps of a removal; each time the next removal restored the former files");
    return {};
  }

  /// Checks that removal restores foreign files at the paths of the plan.
  Status foreign_files() {
    if (items_.files.empty()) return {};
    SLIPWAY_TRY(host, trial("foreign-files", trial_.sim));
    for (const std::string& path : items_.files) SLIPWAY_CHECK(put_foreign_file(host.root(), path));
    const Picture before = host.picture();
    SLIPWAY_TRY(apply, host.apply());
    if (!applied(apply)) {
      fail("foreign-files", "apply fails where another program's files are in the way" + output_of(apply),
           "a file that may exist already: change a part of it with an action that merges, or replace all of it with a "
           "`file` action");
      return {};
    }
    SLIPWAY_TRY(removed, host.remove());
    check_removed("foreign-files", host, removed, before);
    return {};
  }

  void check_removed(const std::string& name, const Trial& host, const TrialRun& removed, const Picture& before) {
    const std::string left = difference(before, host.picture());
    if (removed.exit_code != core::kExitDone || !left.empty())
      fail(name, "removal does not restore the former files; " + left + output_of(removed),
           "removal only undoes the plan's actions: files that were made in another way stay");
    else
      pass(name, "removal restored the former files");
  }

  /// Runs plan, apply, a second plan, verify and removal on a different host.
  Status apply_and_remove(const std::string& name, const std::string& sim, const std::string& remedy) {
    const std::string short_name = name.substr(name.find('.') + 1);
    SLIPWAY_TRY(host, trial(short_name, sim));
    const Picture before = host.picture();
    SLIPWAY_TRY(first, host.plan());
    SLIPWAY_TRY(apply, host.apply());
    if (!applied(apply)) {
      fail(short_name, "apply fails" + output_of(apply), remedy);
      return {};
    }
    SLIPWAY_TRY(plan, host.plan());
    SLIPWAY_TRY(verify, host.verify());
    if (plan.exit_code != core::kExitDone) {
      fail(short_name,
           "a second run would change something:" +
               open_changes(plan.result, items_of(first.result, report_.components), report_.components) +
               output_of(plan),
           remedy);
      return {};
    }
    if (verify.exit_code != core::kExitDone) {
      fail(short_name,
           "verify does not pass" + output_of(verify) +
               failed_findings(verify.result.value("components", Json::object())),
           remedy);
      return {};
    }
    SLIPWAY_TRY(removed, host.remove());
    check_removed(short_name, host, removed, before);
    return {};
  }

  /// Checks that need a running machine.
  void live_only() {
    std::vector<std::string> kinds;
    for (const char* kind : {"kernel-module", "device-node", "exec", "custom", "systemd-unit"})
      if (items_.kinds.contains(kind)) kinds.emplace_back(kind);
    if (!kinds.empty())
      report_.findings.not_exercised(
          "plugin.running-machine", "the effect of these actions on a running machine is not tested: " + joined(kinds));
  }

  const PluginTrial& trial_;
  std::string folder_;
  std::string program_;
  std::vector<std::string> environment_;
  std::string spec_;
  PlanItems items_;
  unsigned steps_ = 0;
  unsigned removal_steps_ = 0;
  Picture before_;
  Picture after_;
  PluginReport report_;
  std::map<std::string, std::string> causes_;  ///< by a run's message: the finding that reported it first
};

}  // namespace

Result<PluginReport> check_plugin(const PluginTrial& trial) {
  SLIPWAY_TRY(folder, base::ScratchFolder::make(fs::temp_directory_path().string(), "slipway-check"));
  return PluginCheck(trial, fs::canonical(folder.path()).string()).run();
}

}  // namespace slipway::plugin_check
