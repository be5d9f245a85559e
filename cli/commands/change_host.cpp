// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/recorded_apply.hpp"
#include "cli/render/text.hpp"
#include "core/engine/apply/stop.hpp"

namespace slipway::core {
namespace {

Result<int> dry_run(Session& session, const Options& options, const HostSpec& spec, const ApplyOptions& apply) {
  SLIPWAY_TRY(run, plan_run(session, spec, apply.plan));
  SLIPWAY_CHECK(check_saved_plan(apply.expected, run));
  return show_plan(run, options);
}

Result<bool> agreed(Session& session, const Options& options, const HostSpec& spec, const ApplyOptions& apply) {
  if (options.yes || options.boot || ::isatty(STDIN_FILENO) != 1) return true;
  SLIPWAY_TRY(run, plan_run(session, spec, apply.plan));
  if (!run.changes()) return true;
  std::cerr << wrapped(plan_text(run, options.session.root, options.verbose), columns_of(STDERR_FILENO))
            << (options.command == "remove" ? "Remove this?" : "Apply this?") << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace

int show_plan(const PlannedRun& run, const Options& options) {
  if (options.output == "text")
    print_wrapped(plan_text(run, options.session.root, options.verbose));
  else
    print(json_text(plan_json(run, options), options.output));
  if (run.failed()) return kExitError;
  return run.changes() ? kExitChanges : kExitDone;
}

Result<int> change_host(Session& session, const Options& options, const HostSpec& spec, const ApplyOptions& apply,
                        TerminalUi& ui) {
  if (options.dry_run) return dry_run(session, options, spec, apply);
  SLIPWAY_TRY(yes, agreed(session, options, spec, apply));
  SLIPWAY_CHECK(stop_requested());
  if (yes) {
    SLIPWAY_TRY(result, recorded_apply(session, options, spec, apply));
    return finish_apply(options, result, ui);
  }
  ApplyResult untouched;
  untouched.report.emplace_back("it was not agreed to");
  print(options.output == "text" ? "Nothing was changed.\n" : json_text(apply_json(untouched), options.output));
  return kExitDone;
}

}  // namespace slipway::core
