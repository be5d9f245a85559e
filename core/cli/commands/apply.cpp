// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <sstream>

#include <unistd.h>

#include "core/cli/command.hpp"
#include "core/cli/recorded_apply.hpp"
#include "core/cli/wrap.hpp"
#include "core/engine/stop.hpp"

namespace slipway::core {
namespace {

/// A plan saved by `slipway plan -o json`: what it was made for becomes the options.
Result<Json> read_saved_plan(const std::string& file, Options& options) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  const Json plan = Json::parse(text.str(), nullptr, false);
  if (!plan.is_object() || plan.value("kind", "") != "Plan")
    return Error{ErrorCode::invalid,
                 "this is no plan",
                 file,
                 "save one with `slipway plan -o json > FILE`; a spec is named with -f",
                 {}};
  const Json made_for = plan.value("options", Json::object());
  options.spec = made_for.value("spec", "");
  options.session.root = made_for.value("root", "/");
  options.session.kernel = made_for.value("kernel", "");
  options.session.sim = made_for.value("sim", "");
  options.only = made_for.value("only", std::vector<std::string>{});
  return plan.value("identity", Json::object());
}

/// On a terminal, and without --yes: shows the plan and asks.
Result<bool> agreed(Session& session, const SpecAndLock& loaded, const Options& options) {
  if (options.yes || options.boot || ::isatty(STDIN_FILENO) != 1) return true;
  SLIPWAY_TRY(run, plan_run(session, loaded.spec, {options.only, loaded.lock, options.locked}));
  if (!run.changes()) return true;
  std::cerr << wrapped(plan_text(run, options.session.root, options.verbosity), columns_of(STDERR_FILENO))
            << "Apply this? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace

Result<int> run_apply(const Options& given, TerminalUi& ui) {
  Options options = given;
  watch_stop_signals();
  ApplyOptions apply;
  if (!options.arguments.empty()) {
    SLIPWAY_TRY(identity, read_saved_plan(options.arguments.front(), options));
    apply.expected = identity;
  }
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  apply.plan = {options.only, loaded.lock, options.locked};
  SLIPWAY_TRY(yes, agreed(*session, loaded, options));
  if (!yes) {
    print("Nothing was changed.\n");
    return kExitDone;
  }
  SLIPWAY_TRY(result, recorded_apply(*session, options, loaded.spec, apply));
  return finish_apply(options, result);
}

}  // namespace slipway::core
