// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial_run.hpp - runs slipway as a user does, and kills it midway on request.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::plugin_check {

struct TrialRun {
  int exit_code = 0;     ///< 128 + signal when a signal ended it
  Json result;           ///< the JSON object that it printed; empty: none
  std::string messages;  ///< its other output, for users
  unsigned steps = 0;    ///< number of announced steps of an apply
  bool killed = false;   ///< by this trial, at the requested step
};

struct TrialCommand {
  std::vector<std::string> argv;         ///< with "-o jsonl", so that steps can be counted
  std::vector<std::string> environment;  ///< the complete environment, "NAME=VALUE"
  unsigned kill_at_step = 0;             ///< SIGKILL at the announcement of this step, counted from 1; 0: never
  std::chrono::seconds limit{300};
};

/// Errors: `timed_out` it was killed after `limit`; those of system_error() when it cannot be started.
Result<TrialRun> run_trial(const TrialCommand& command);

}  // namespace slipway::plugin_check
