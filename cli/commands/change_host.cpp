// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <unistd.h>

#include <slipway/text/display.hpp>

#include "app/build_container.hpp"
#include "app/kernel_change.hpp"
#include "app/recorded_apply.hpp"
#include "app/waiting.hpp"
#include "cli/command.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

Result<core::PlannedRun> checked_plan(core::Session& session, const core::HostSpec& spec,
                                      const core::ApplyOptions& apply) {
  SLIPWAY_TRY(run, core::plan_run(session, spec, apply.plan));
  if (apply.check) SLIPWAY_CHECK(apply.check(run));
  return run;
}

bool asks(const Options& options) { return !options.yes && !options.boot && ::isatty(STDIN_FILENO) == 1; }

std::string question(const std::string& command) {
  if (command == "accept") return "Accept this?";
  return command == "remove" ? "Remove this?" : "Apply this?";
}

/// Remembers --live as the answer to the question that the next command would ask.
void remember_answer(const core::Session& session, const Options& options) {
  if (!options.session.live.value_or(false) || session.host_config().root != "/" || session.simulated() != nullptr)
    return;
  if (!app::signs_of_a_build("/").empty()) (void)app::mark_container_running("/").ok();
}

}  // namespace

int show_plan(const core::PlannedRun& run, const Options& options) {
  if (options.output == "text")
    print_wrapped(plan_text(run, options));
  else
    print(json_text(plan_json(run, options), options.output));
  if (run.failed()) return core::kExitError;
  return run.changes() ? core::kExitChanges : core::kExitDone;
}

bool agreed(const core::PlannedRun& run, const Options& options) {
  if (!asks(options) || !run.changes()) return true;
  std::cerr << plan_text(run, options).text(columns_of(STDERR_FILENO), shows_colour(STDERR_FILENO))
            << question(options.command) << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int leave_unchanged(const Options& options) {
  core::ApplyResult untouched;
  untouched.report.emplace_back("the answer was not yes");
  print(options.output == "text" ? "Nothing was changed.\n" : json_text(apply_json(untouched), options.output));
  return core::kExitError;
}

Result<int> change_host(core::Session& session, const Options& options, const core::HostSpec& spec,
                        const core::ApplyOptions& apply, TerminalUi& ui) {
  if (options.dry_run || asks(options)) {
    const auto run = checked_plan(session, spec, apply);
    if (!run) return core::advised(run.error(), session.options());
    if (options.dry_run) return show_plan(*run, options);
    if (!agreed(*run, options)) return leave_unchanged(options);
  }
  SLIPWAY_CHECK(core::check_not_stopped());
  const app::ChangeRequest request = change_request(options);
  SLIPWAY_TRY(result,
              options.wait || options.wait_for_source
                  ? app::apply_and_wait(session, request, spec, apply, {options.wait, options.wait_for_source},
                                        [&] { return open_attempt(options, ui); })
                  : app::recorded(session, request, spec.file, [&] { return core::apply_run(session, spec, apply); }));
  remember_answer(session, options);
  if (options.boot)
    if (const Status noticed = app::notice_of_boot(session, result); !noticed)
      ui.log(core::Ui::Level::warning, "", "there is no notice for users who log in: " + noticed.error().what);
  return finish_apply(options, result, ui);
}

}  // namespace slipway::cli
