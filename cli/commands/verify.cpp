// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/verify.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/command.hpp"
#include "cli/repair/repair.hpp"
#include "core/engine/verify/causes.hpp"

namespace slipway::core {
namespace {

/// Services have only just started at a boot, and their first look at the GPUs may not be over.
constexpr std::chrono::seconds kSettleTime{10};
constexpr std::chrono::seconds kSettleStep{1};
/// How long another slipway may be at work: less than the unit's TimeoutStartSec.
constexpr std::chrono::minutes kChangeTime{5};

bool all_pass(const std::map<std::string, Findings>& findings) {
  return std::ranges::all_of(findings, [](const auto& each) { return each.second.passed(); });
}

/// Another slipway is at work, such as slipway-cdi-refresh.service, which a boot starts when the driver is there.
bool is_being_changed(const std::map<std::string, Findings>& findings) {
  return std::ranges::any_of(findings, [](const auto& each) {
    return std::ranges::any_of(each.second.list(), [](const Finding& one) {
      return one.status == Finding::Status::warning && one.name == kApplyFinding;
    });
  });
}

/// At a boot until nothing changes any more, and all pass or the time is over; else once.
Result<std::map<std::string, Findings>> verify_settled(Session& session, const HostSpec& spec, const Options& options) {
  const auto latest = std::chrono::steady_clock::now() + kChangeTime;
  auto end = std::chrono::steady_clock::now() + kSettleTime;
  for (;;) {
    SLIPWAY_TRY(findings, verify_run(session, spec, {options.only, options.deep}));
    const auto now = std::chrono::steady_clock::now();
    const bool changes = now < latest && is_being_changed(findings);
    if (changes) end = now + kSettleTime;
    if (!options.boot || (!changes && all_pass(findings)) || now >= end) return findings;
    std::this_thread::sleep_for(kSettleStep);
  }
}

}  // namespace

Result<int> run_verify(const Options& given, TerminalUi& ui) {
  Options options = given;
  SLIPWAY_CHECK(take_names(options));
  if (options.boot && !options.spec.empty())
    return Error{ErrorCode::usage,
                 "--boot verifies the generation in force, and -f names another spec",
                 "command line",
                 "leave one out",
                 {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(findings, verify_settled(*session, loaded.spec, options));
  SLIPWAY_CHECK(add_damage(*session, findings));
  const bool passed = !awaits_apply(findings) && all_pass(findings);
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
