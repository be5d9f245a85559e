// SPDX-License-Identifier: Apache-2.0
#include "cli/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include <poll.h>

#include <slipway/text.hpp>

#include "cli/edits.hpp"
#include "cli/recorded_apply.hpp"
#include "core/engine/apply/stop.hpp"
#include "core/engine/root_lock.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstPause{2};
constexpr std::chrono::seconds kLongestPause{60};
/// Once it has waited for so long, pauses become longer still: each apply is logged, and the log keeps other things.
constexpr std::chrono::minutes kLongWait{10};
constexpr std::chrono::seconds kLongestLatePause{300};
/// How often a pause looks whether it may end sooner.
constexpr std::chrono::seconds kLook{1};

/// "90s", "10m", "1h"
std::string duration_text(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  if (seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  return seconds % 60 == 0 ? std::to_string(seconds / 60) + "m" : std::to_string(seconds) + "s";
}

/// "probe: GPU 3 is in use; held by python3 (pid 7)"; empty: nobody is in the way, or waiting does not help.
std::string obstacle_of(const Result<ApplyResult>& result) {
  if (!result) {
    const Error& error = result.error();
    if (error.code != ErrorCode::locked) return {};
    const auto shown = [](const auto& detail) { return "; " + detail.first + " by " + detail.second; };
    return error.what + joined(error.details, "", shown);
  }
  if (apply_exit_code(*result) != kExitWaiting) return {};
  std::vector<std::string> reasons;
  for (const PlannedComponent& component : result->run.components)
    if (component.state == ComponentState::waiting) reasons.push_back(component.name + ": " + component.reason);
  return joined(reasons, "; ");
}

/// Each reason says as well how long it was waited for.
Result<ApplyResult> out_of_time(Result<ApplyResult> result, std::chrono::seconds limit) {
  const std::string waited = "; slipway has waited " + duration_text(limit) + " for that to end";
  if (!result) {
    Error error = std::move(result).error();
    error.what += waited;
    return error;
  }
  for (PlannedComponent& component : result->run.components)
    if (component.state == ComponentState::waiting) component.reason += waited;
  return result;
}

/// Whether the slipway that has the root locked now has released it, asked later. One that is not known never has.
std::function<bool()> unlocked(Session& session) {
  const std::string root = session.host_config().root;
  const bool live = session.host_config().live;
  const std::string holder = RootLock::other_holder(root, live);
  return [root, live, holder] { return !holder.empty() && RootLock::other_holder(root, live) != holder; };
}

/// Errors: `cancelled`
Status pause_until(Clock::time_point end, const std::string& obstacle, const std::function<bool()>& is_over) {
  while (stop_requested() && Clock::now() < end && !is_over()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto step = std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kLook);
    (void)::poll(nullptr, 0, static_cast<int>(step.count()));  // a signal ends it
  }
  Status stop = stop_requested();
  if (stop) return stop;
  Error error = stop.error();
  error.what += " while it waited for this to end: " + obstacle;
  return error;
}

Result<ApplyResult> apply_anew(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(attempt, open_attempt(options, ui));
  return recorded(*attempt.session, options, attempt.spec.file,
                  [&] { return apply_run(*attempt.session, attempt.spec, attempt.apply); });
}

}  // namespace

Result<ApplyAttempt> open_attempt(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(wanted, plan_options(*session, options, loaded.lock));
  ApplyOptions apply;
  apply.plan = wanted;
  apply.plan.keeps_others = options.boot;  // what an apply has added, no boot takes away
  apply.check = [edits = options.replace_edits](const PlannedRun& run) { return check_replaced(edits, run); };
  return ApplyAttempt{std::move(session), std::move(loaded.spec), std::move(apply)};
}

Result<ApplyResult> apply_and_wait(Session& session, const Options& options, const HostSpec& spec,
                                   const ApplyOptions& apply, TerminalUi& ui) {
  const std::chrono::seconds limit = options.wait.value_or(std::chrono::seconds(0));
  const Clock::time_point end = limit == kNoLimit ? Clock::time_point::max() : Clock::now() + limit;
  const std::string how_long = limit == kNoLimit ? "" : ", for " + duration_text(limit) + " at most";
  const Clock::time_point late = Clock::now() + kLongWait;
  std::string known;
  auto result = recorded(session, options, spec.file, [&] { return apply_run(session, spec, apply); });
  for (std::chrono::seconds length = kFirstPause;;
       length = std::min(length * 2, Clock::now() < late ? kLongestPause : kLongestLatePause)) {
    const std::string obstacle = obstacle_of(result);
    if (obstacle.empty()) return result;
    if (Clock::now() >= end) return out_of_time(std::move(result), limit);
    if (obstacle != known)
      ui.log(Ui::Level::info, "", "slipway waits until this is over, and applies again" + how_long + ": " + obstacle);
    known = obstacle;
    const std::function<bool()> never = [] { return false; };
    SLIPWAY_CHECK(pause_until(std::min(end, Clock::now() + length), obstacle, result ? never : unlocked(session)));
    result = apply_anew(options, ui);
  }
}

}  // namespace slipway::core
