// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial.hpp - one scratch root, and slipway's commands on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "plugin-check/trial_root.hpp"
#include "plugin-check/trial_run.hpp"

namespace slipway::plugin_check {

class Trial {
 public:
  /// @param program      slipway-engine
  /// @param environment  the complete environment, "NAME=VALUE"
  /// @param sim          a simulated machine's profile; empty: the root is not of a machine
  Trial(std::string program, std::vector<std::string> environment, std::string spec, std::string root, std::string sim)
      : program_(std::move(program)),
        environment_(std::move(environment)),
        spec_(std::move(spec)),
        root_(std::move(root)),
        sim_(std::move(sim)) {}

  const std::string& root() const { return root_; }
  const std::string& spec() const { return spec_; }
  Picture picture() const { return picture_of(root_); }
  /// Returns the same root with an environment in which these entries replace others of the same names.
  Trial with(const std::vector<std::string>& entries) const;
  /// Returns the same root with another spec.
  Trial of_spec(const std::string& spec) const { return {program_, environment_, spec, root_, sim_}; }
  /// Returns the same root as another machine.
  Trial as_machine(const std::string& sim) const { return {program_, environment_, spec_, root_, sim}; }

  Result<TrialRun> detect() const { return run({"detect", "-f", spec_}); }
  Result<TrialRun> plan() const { return run({"plan", "-f", spec_}); }
  Result<TrialRun> apply(unsigned kill_at_step = 0) const { return run({"apply", "--yes", "-f", spec_}, kill_at_step); }
  Result<TrialRun> verify() const { return run({"verify", "-f", spec_}); }
  Result<TrialRun> remove(unsigned kill_at_step = 0) const { return run({"remove", "--yes", "--all"}, kill_at_step); }

 private:
  Result<TrialRun> run(std::vector<std::string> words, unsigned kill_at_step = 0) const;

  std::string program_;
  std::vector<std::string> environment_;
  std::string spec_;
  std::string root_;
  std::string sim_;
};

/// True when an apply succeeded as far as possible: a busy device and a pending reboot are not the plugin's fault.
bool applied(const TrialRun& run);

/// Returns the last lines of a run's messages and its errors, after a colon; empty when there are none.
std::string output_of(const TrialRun& run);

/// Returns the failed findings, each on a line after a newline. @param components  name to list of findings
std::string failed_findings(const Json& components);

/// The actions of these components, from a plan's JSON form.
struct PlanItems {
  std::map<std::string, std::size_t> of;       ///< number of actions of each component of the plan
  std::map<std::string, std::string> why_not;  ///< for components that are not applicable, blocked or deferred
  std::set<std::string> kinds;
  std::vector<std::string> files;  ///< targets of `file`
  std::vector<Json> actions;       ///< with "component"
};
PlanItems items_of(const Json& plan, const std::vector<std::string>& of);

/// Returns the changes of a plan, each on a line after a newline, with the action's keys that differ from those in the
/// plan `before`.
std::string open_changes(const Json& plan, const PlanItems& before, const std::vector<std::string>& of);

}  // namespace slipway::plugin_check
