// SPDX-License-Identifier: Apache-2.0
#include "app/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include <poll.h>

#include <slipway/text.hpp>

#include "core/engine/root_lock.hpp"
#include "core/engine/stop.hpp"
#include "core/exit_code.hpp"

namespace slipway::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstPause{2};
constexpr std::chrono::seconds kLongestPause{60};
/// After waiting this long, pauses become even longer: each apply is logged, and should not fill the log.
constexpr std::chrono::minutes kLongWait{10};
constexpr std::chrono::seconds kLongestLatePause{300};
/// A registry that is down rarely returns at once, and many machines may contact it then.
constexpr std::chrono::seconds kFirstSourcePause{5};
/// The interval for checking during a pause whether it may end sooner.
constexpr std::chrono::seconds kLook{1};

/// "90s", "10m", "1h"
std::string duration_text(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  if (seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  return seconds % 60 == 0 ? std::to_string(seconds / 60) + "m" : std::to_string(seconds) + "s";
}

/// A temporary reason why an apply cannot complete.
struct Obstacle {
  std::string text;        ///< "probe: GPU 3 is in use; held by python3 (pid 7)"; empty: none, or waiting does not help
  bool is_source = false;  ///< an artifact source does not answer
};

Obstacle obstacle_of(const Result<core::ApplyResult>& result) {
  if (!result) {
    const Error& error = result.error();
    if (error.code != ErrorCode::locked) return {};
    const auto shown = [](const auto& detail) { return "; " + detail.first + " by " + detail.second; };
    return {error.what + joined(error.details, "", shown)};
  }
  if (apply_exit_code(*result) != core::kExitWaiting) return {};
  std::vector<std::string> reasons;
  bool awaits_source = false;
  for (const core::PlannedComponent& component : result->run.components) {
    if (component.state != core::ComponentState::waiting) continue;
    reasons.push_back(component.name + ": " + component.reason);
    awaits_source = awaits_source || component.awaits_source;
  }
  return {joined(reasons, "; "), awaits_source};
}

/// The time limit for one kind of obstacle.
struct Patience {
  Patience(std::optional<std::chrono::seconds> asked_for, std::chrono::seconds first_pause)
      : limit(asked_for.value_or(std::chrono::seconds(0))),
        end(limit == kNoLimit ? Clock::time_point::max() : Clock::now() + limit),
        pause(first_pause) {}

  bool has_none() const { return limit.count() == 0; }
  std::string how_long() const { return limit == kNoLimit ? "" : ", for " + duration_text(limit) + " at most"; }

  std::chrono::seconds limit;
  Clock::time_point end;
  std::chrono::seconds pause;
};

/// Adds to each reason how long the apply waited for it.
Result<core::ApplyResult> out_of_time(Result<core::ApplyResult> result, std::chrono::seconds limit) {
  const std::string waited = "; slipway waited " + duration_text(limit) + ", and then gave up";
  if (!result) {
    Error error = std::move(result).error();
    error.what += waited;
    return error;
  }
  for (core::PlannedComponent& component : result->run.components)
    if (component.state == core::ComponentState::waiting) component.reason += waited;
  return result;
}

/// Returns a function that tells whether the process that holds the root's lock now has released it. When that process
/// is unknown, the function always returns false.
std::function<bool()> unlocked(core::Session& session) {
  const std::string root = session.host_config().root;
  const bool live = session.host_config().live;
  const std::string holder = core::RootLock::other_holder(root, live);
  return [root, live, holder] { return !holder.empty() && core::RootLock::other_holder(root, live) != holder; };
}

/// Errors: `cancelled`
Status pause_until(Clock::time_point end, const std::string& obstacle, const std::function<bool()>& is_over) {
  while (core::check_not_stopped() && Clock::now() < end && !is_over()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto step = std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kLook);
    (void)::poll(nullptr, 0, static_cast<int>(step.count()));  // a signal ends it
  }
  Status stop = core::check_not_stopped();
  if (stop) return stop;
  Error error = stop.error();
  error.what += " while it waited for this to end: " + obstacle;
  return error;
}

}  // namespace

Result<core::ApplyResult> apply_and_wait(core::Session& session, const ChangeRequest& request,
                                         const core::HostSpec& spec, const core::ApplyOptions& apply,
                                         const WaitLimits& limits,
                                         const std::function<Result<ApplyAttempt>()>& open_again) {
  Patience with_others(limits.others, kFirstPause);
  Patience with_sources(limits.sources, kFirstSourcePause);
  const Clock::time_point late = Clock::now() + kLongWait;
  std::string known;
  bool waits_for_source = false;
  auto result = recorded(session, request, spec.file, [&] { return core::apply_run(session, spec, apply); });
  for (;;) {
    const Obstacle obstacle = obstacle_of(result);
    if (obstacle.text.empty()) return result;
    // Another apply may start during a pause: --wait-for-source also waits for that one.
    waits_for_source = waits_for_source || obstacle.is_source;
    const bool with_source = obstacle.is_source || (!result && waits_for_source && with_others.has_none());
    Patience& patience = with_source ? with_sources : with_others;
    if (patience.has_none()) return result;
    if (Clock::now() >= patience.end) return out_of_time(std::move(result), patience.limit);
    if (obstacle.text != known)
      session.ui().log(
          core::Ui::Level::info, "",
          "slipway waits until this is over, and applies again" + patience.how_long() + ": " + obstacle.text);
    known = obstacle.text;
    const std::function<bool()> never = [] { return false; };
    SLIPWAY_CHECK(pause_until(std::min(patience.end, Clock::now() + patience.pause), obstacle.text,
                              result ? never : unlocked(session)));
    const bool is_long = obstacle.is_source || Clock::now() >= late;
    patience.pause = std::min(patience.pause * 2, is_long ? kLongestLatePause : kLongestPause);
    SLIPWAY_TRY(attempt, open_again());
    result = recorded(*attempt.session, request, attempt.spec.file,
                      [&] { return core::apply_run(*attempt.session, attempt.spec, attempt.apply); });
  }
}

}  // namespace slipway::app
