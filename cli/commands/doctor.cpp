// SPDX-License-Identifier: Apache-2.0

#include "app/repair/repair.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
Result<int> run_doctor(const Options& given, TerminalUi& ui) {
  Options options = given;
  SLIPWAY_CHECK(take_names(options));
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(findings, core::doctor_run(*session, loaded.spec, {options.only, loaded.lock}));
  SLIPWAY_CHECK(app::add_damage(*session, findings));
  bool passed = !core::awaits_apply(findings);
  for (const auto& [component, list] : findings) passed = passed && list.passed();
  if (options.output == "text") {
    print_wrapped(doctor_text(findings, options.verbose));
  } else {
    Json result = findings_json(findings);
    result["kind"] = "Diagnosis";
    print(json_text(result, options.output));
  }
  return passed ? core::kExitDone : core::kExitError;
}

}  // namespace slipway::cli
