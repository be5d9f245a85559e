// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/doctor.hpp"

#include "cli/command.hpp"
#include "cli/repair/repair.hpp"

namespace slipway::core {
namespace {

using CheckStatus = Finding::Status;

/// What is wrong comes first, what is well is only counted.
Page doctor_text(const std::map<std::string, Findings>& findings, bool all) {
  Page wrong;
  Page rest;
  std::size_t failed = 0;
  std::size_t warned = 0;
  std::size_t well = 0;
  std::size_t untried = 0;
  for (const auto& [component, list] : findings)
    for (const Finding& finding : list.list()) {
      failed += finding.status == CheckStatus::fail ? 1 : 0;
      warned += finding.status == CheckStatus::warning ? 1 : 0;
      well += finding.status == CheckStatus::pass ? 1 : 0;
      untried += finding.status == CheckStatus::not_exercised ? 1 : 0;
      const bool shown = finding.status == CheckStatus::fail || finding.status == CheckStatus::warning;
      if (shown || all || finding.status == CheckStatus::not_exercised) (shown ? wrong : rest) << finding_text(finding);
    }
  Page text;
  text << wrong << rest;
  if (failed + warned == 0)
    text << "Nothing is wrong as far as slipway can see: ";
  else
    text << failed << (failed == 1 ? " thing is" : " things are") << " wrong, " << warned << " to be looked at: ";
  text << well << (well == 1 ? " check passes" : " checks pass");
  if (untried > 0) text << ", " << untried << " could not be tried";
  text << ".\n";
  return text;
}

}  // namespace

Result<int> run_doctor(const Options& given, TerminalUi& ui) {
  Options options = given;
  SLIPWAY_CHECK(take_names(options));
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(findings, doctor_run(*session, loaded.spec, {options.only, loaded.lock}));
  SLIPWAY_CHECK(add_damage(*session, findings));
  bool passed = true;
  for (const auto& [component, list] : findings) passed = passed && list.passed();
  if (options.output == "text") {
    print_wrapped(doctor_text(findings, options.verbose));
  } else {
    Json result = findings_json(findings);
    result["kind"] = "Diagnosis";
    print(json_text(result, options.output));
  }
  return passed ? kExitDone : kExitError;
}

}  // namespace slipway::core
