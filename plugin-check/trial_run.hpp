// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial_run.hpp - runs slipway as a user does, and kills it in the middle when that is to be tried.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

struct TrialRun {
  int exit_code = 0;     ///< 128 + signal when a signal ended it
  Json result;           ///< the JSON object that it printed; empty: none
  std::string messages;  ///< what it said besides, for people
  unsigned steps = 0;    ///< how many steps of an apply it announced
  bool killed = false;   ///< by us, at the step that was asked for
};

struct TrialCommand {
  std::vector<std::string> argv;         ///< with "-o jsonl", so that steps can be counted
  std::vector<std::string> environment;  ///< all of it, "NAME=VALUE"
  unsigned kill_at_step = 0;             ///< SIGKILL as soon as it announces this step, counted from 1; 0: never
  std::chrono::seconds limit{300};
};

/// Errors: `timed_out` it was killed after `limit`; those of system_error() when it cannot be started.
Result<TrialRun> run_trial(const TrialCommand& command);

}  // namespace slipway::core
