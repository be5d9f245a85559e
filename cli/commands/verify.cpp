// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/repair/repair.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// At a boot, services have only just started, and their first check of the GPUs may not be complete. After the boot,
/// kubelet and engines have only just started.
constexpr std::chrono::seconds kSettleTime{10};
/// The time to wait for another slipway: less than the unit's TimeoutStartSec.
constexpr std::chrono::minutes kChangeTime{5};
constexpr std::chrono::seconds kLateSettleTime{120};
constexpr std::chrono::seconds kLongestPause{15};
constexpr std::chrono::seconds kLookAtFirstApply{2};
/// kubelet is restarted every ten seconds while it has no configuration: before a join.
constexpr std::chrono::seconds kLookAtEngines{5};
constexpr int kLooksWithoutAStart = 4;
constexpr std::chrono::minutes kWaitForEngines{10};

bool all_pass(const std::map<std::string, Findings>& findings) {
  return std::ranges::all_of(findings, [](const auto& each) { return each.second.passed(); });
}

/// The last line of the page. Checks that were skipped have verified nothing.
Toned verdict(const std::map<std::string, Findings>& findings, bool passed) {
  const bool any = std::ranges::any_of(findings, [](const auto& each) {
    return std::ranges::count(each.second.list(), Finding::Status::pass, &Finding::status) != 0;
  });
  if (!passed) return {Tone::bad, "Not everything passes."};
  return any ? Toned{Tone::good, "Verified."}
             : Toned{Tone::attention, "Nothing was verified: there is nothing to check here."};
}

/// True while another slipway is at work, such as slipway-cdi-refresh.service, which a boot starts when the driver is
/// there.
bool is_being_changed(const std::map<std::string, Findings>& findings) {
  return std::ranges::any_of(findings, [](const auto& each) {
    return std::ranges::any_of(each.second.list(), [](const Finding& one) {
      return one.status == Finding::Status::warning && one.name == core::kApplyFinding;
    });
  });
}

/// With --boot and --after-boot, verifies until nothing changes any more, and everything passes or the time is over;
/// else verifies once.
Result<std::map<std::string, Findings>> verify_settled(core::Session& session, const core::HostSpec& spec,
                                                       const Options& options, TerminalUi& ui) {
  const auto settle_time = options.after_boot ? kLateSettleTime : kSettleTime;
  const auto latest = std::chrono::steady_clock::now() + kChangeTime;
  auto end = std::chrono::steady_clock::now() + settle_time;
  for (std::chrono::seconds pause{1};; pause = options.after_boot ? std::min(2 * pause, kLongestPause) : pause) {
    SLIPWAY_TRY(findings, core::verify_run(session, spec, {options.only, options.deep}));
    if (!options.is_of_a_boot()) return findings;
    const auto now = std::chrono::steady_clock::now();
    const bool changes = now < latest && is_being_changed(findings);
    if (changes) end = now + settle_time;
    if (!changes && (all_pass(findings) || now + pause > end)) return findings;
    if (options.after_boot && pause == std::chrono::seconds(1))
      ui.log(core::Ui::Level::info, "", "some checks do not pass yet; they are repeated for two minutes");
    std::this_thread::sleep_for(pause);
  }
}

/// kubelet or an engine may be started again and again: then verify runs only from time to time, not at each start.
void wait_for_engines(const core::Session& session, const core::HostSpec& spec, TerminalUi& ui) {
  if (!core::has_systemd(session.host())) return;
  const auto end = std::chrono::steady_clock::now() + kWaitForEngines;
  bool waits = false;
  for (int looks = 0; std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(kLookAtEngines)) {
    const bool starts = core::an_engine_starts(session, spec);
    if (starts && !waits)
      ui.log(core::Ui::Level::info, "", "waiting for a container engine or kubelet that is being started");
    waits = waits || starts;
    looks = starts ? 0 : looks + 1;
    if (looks == kLooksWithoutAStart) return;
  }
}

/// At a boot before the first apply, slipway-apply.service may be running: its result is verified.
Result<std::unique_ptr<core::Session>> open_once_provisioned(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  if (!options.boot) return std::move(session);
  SLIPWAY_TRY(current, session->state().current());
  if (current || !core::is_first_apply_under_way(session->host())) return std::move(session);
  ui.log(core::Ui::Level::info, "", "nothing is provisioned yet: waiting for slipway-apply.service to end");
  while (core::is_first_apply_under_way(session->host())) std::this_thread::sleep_for(kLookAtFirstApply);
  SLIPWAY_TRY(again, open_session(options, ui));
  SLIPWAY_CHECK(again->state().go_around_damage());
  return std::move(again);
}

}  // namespace

Result<int> run_verify(const Options& given, TerminalUi& ui) {
  Options options = given;
  SLIPWAY_CHECK(take_names(options));
  if (options.boot && options.after_boot)
    return Error{ErrorCode::usage, "--boot and --after-boot exclude each other", "command line", "leave one out", {}};
  if (options.is_of_a_boot() && !options.spec.empty())
    return Error{ErrorCode::usage,
                 std::string(options.boot ? "--boot" : "--after-boot") +
                     " verifies the active generation, so -f must not name a spec",
                 "command line",
                 "leave one out",
                 {}};
  SLIPWAY_TRY(session, open_once_provisioned(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  if (options.after_boot) wait_for_engines(*session, loaded.spec, ui);
  SLIPWAY_TRY(findings, verify_settled(*session, loaded.spec, options, ui));
  SLIPWAY_CHECK(app::add_damage(*session, findings));
  const bool passed = !core::awaits_apply(findings) && all_pass(findings);
  if (options.boot && !core::awaits_apply(findings)) SLIPWAY_CHECK(core::note_verified_boot(*session, findings));
  if (options.output == "text") {
    Page page = findings_text(findings);
    print_wrapped(page << verdict(findings, passed) << '\n');
  } else {
    print(json_text(findings_json(findings), options.output));
  }
  return passed ? core::kExitDone : core::kExitError;
}

}  // namespace slipway::cli
