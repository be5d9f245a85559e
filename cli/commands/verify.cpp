// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/verify.hpp"

#include "cli/command.hpp"
#include "cli/repair/repair.hpp"

namespace slipway::core {

Result<int> run_verify(const Options& given, TerminalUi& ui) {
  Options options = given;
  SLIPWAY_CHECK(take_names(options));
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(findings, verify_run(*session, loaded.spec, {options.only, options.deep}));
  SLIPWAY_CHECK(add_damage(*session, findings));
  bool passed = true;
  for (const auto& [component, list] : findings) passed = passed && list.passed();
  if (options.output == "text") {
    Page page = findings_text(findings);
    print_wrapped(page << (passed ? Toned{Tone::good, "Verified."} : Toned{Tone::bad, "Not everything passes."})
                       << '\n');
  } else {
    print(json_text(findings_json(findings), options.output));
  }
  return passed ? kExitDone : kExitError;
}

}  // namespace slipway::core
