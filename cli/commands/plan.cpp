// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

namespace slipway::core {

Result<int> run_plan(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(run, plan_run(*session, loaded.spec, {options.only, loaded.lock, options.locked}));
  if (options.output == "text")
    print_wrapped(plan_text(run, options.session.root, options.verbosity));
  else
    print(json_text(plan_json(run, options), options.output));
  if (run.failed()) return kExitError;
  return run.changes() ? kExitChanges : kExitDone;
}

}  // namespace slipway::core
