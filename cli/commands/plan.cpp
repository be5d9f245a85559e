// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "app/edits.hpp"
#include "cli/command.hpp"

namespace slipway::cli {

Result<int> run_plan(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  session->state().go_without_closed();
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(wanted, plan_options(*session, options, loaded.lock));
  if (!options.lock.empty() && !options.locked && ::access(options.lock.c_str(), F_OK) != 0)
    ui.log(core::Ui::Level::warning, "", options.lock + " does not exist yet: a plan reads it, and an apply writes it");
  SLIPWAY_TRY(run, core::plan_run(*session, loaded.spec, wanted));
  SLIPWAY_CHECK(app::check_replaced(options.replace_edits, run));
  return show_plan(run, options);
}

}  // namespace slipway::cli
