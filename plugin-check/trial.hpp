// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial.hpp - one scratch root, and the commands of slipway on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "plugin-check/trial_root.hpp"
#include "plugin-check/trial_run.hpp"

namespace slipway::core {

class Trial {
 public:
  /// @param program      slipway-engine
  /// @param environment  all of it, "NAME=VALUE"
  /// @param sim          a simulated machine's profile; empty: the root is not a machine's
  Trial(std::string program, std::vector<std::string> environment, std::string spec, std::string root, std::string sim)
      : program_(std::move(program)),
        environment_(std::move(environment)),
        spec_(std::move(spec)),
        root_(std::move(root)),
        sim_(std::move(sim)) {}

  const std::string& root() const { return root_; }
  const std::string& spec() const { return spec_; }
  Picture picture() const { return picture_of(root_); }
  /// The same root under an environment in which these entries take the place of others of their names.
  Trial with(const std::vector<std::string>& entries) const;
  /// The same root with another spec.
  Trial of_spec(const std::string& spec) const { return {program_, environment_, spec, root_, sim_}; }
  /// The same root as another machine.
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

/// An apply came as far as it can: others in the way and a reboot are no fault of the plugin.
bool applied(const TrialRun& run);

/// The last lines of what a run said and its errors, behind a colon; nothing when there are none.
std::string output_of(const TrialRun& run);

/// The findings that failed, each on a line after a newline. @param components  name to list of findings
std::string failed_findings(const Json& components);

/// What the actions of these components are in a plan's JSON form.
struct PlanItems {
  std::map<std::string, std::size_t> of;       ///< how many each component of the plan has
  std::map<std::string, std::string> why_not;  ///< of those that are not applicable, blocked or deferred
  std::set<std::string> kinds;
  std::vector<std::string> files;  ///< targets of `file`
  std::vector<Json> actions;       ///< with "component"
};
PlanItems items_of(const Json& plan, const std::vector<std::string>& of);

/// What a plan would change, each on a line after a newline, and how it differs from the plan before: in which keys of
/// the action.
std::string open_changes(const Json& plan, const PlanItems& before, const std::vector<std::string>& of);

}  // namespace slipway::core
