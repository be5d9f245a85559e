// SPDX-License-Identifier: Apache-2.0

#include "app/repair/repair.hpp"

#include <iostream>
#include <sstream>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

std::string repairs_text(const std::vector<app::Repair>& repairs, const Options& options) {
  std::ostringstream text;
  for (const app::Repair& repair : repairs) {
    text << repair.path() << ": " << repair.problem << '\n';
    if (!repair.aside.empty()) text << "  + set it aside as " << repair.aside << '\n';
    text << "  " << core::advised(repair.outcome, options.session) << '\n';
  }
  return text.str();
}

Json repairs_json(const std::vector<app::Repair>& repairs, const Options& options, bool changed) {
  Json files = Json::array();
  for (const app::Repair& repair : repairs)
    files.push_back({{"path", repair.path()},
                     {"problem", repair.problem},
                     {"aside", repair.aside},
                     {"outcome", core::advised(repair.outcome, options.session)}});
  return envelope("Repair", {{"changed", changed}, {"dry_run", options.dry_run}, {"files", std::move(files)}});
}

bool agreed(const std::vector<app::Repair>& repairs, const Options& options) {
  if (options.yes || ::isatty(STDIN_FILENO) != 1) return true;
  std::cerr << wrapped(repairs_text(repairs, options), columns_of(STDERR_FILENO)) << "Repair this? [y/N] "
            << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace

Result<int> run_repair(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(repairs, app::find_repairs(*session));
  const bool changes = !options.dry_run && !repairs.empty() && agreed(repairs, options);
  if (changes) {
    SLIPWAY_TRY(lock, core::RootLock::take(session->host_config().root, session->host_config().live));
    SLIPWAY_TRY(found, app::find_repairs(*session));  // again, now that no other process changes it
    SLIPWAY_CHECK(app::carry_out(*session, found));
    repairs = std::move(found);
    (void)lock;
  }
  if (options.output != "text") {
    print(json_text(repairs_json(repairs, options, changes), options.output));
  } else if (repairs.empty()) {
    print("Every record in " + std::string(core::kStateDir) + " can be read; there is nothing to repair.\n");
  } else if (changes || options.dry_run) {
    print_wrapped(repairs_text(repairs, options) + (changes ? "Repaired.\n" : ""));
  } else {
    print("Nothing was changed.\n");
  }
  return options.dry_run && !repairs.empty() ? core::kExitChanges : core::kExitDone;
}

}  // namespace slipway::cli
