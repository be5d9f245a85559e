// SPDX-License-Identifier: Apache-2.0
// app/waiting.hpp - repeats an apply while another program or an unreachable artifact source blocks it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/recorded_apply.hpp"
#include "core/engine/apply/apply.hpp"

namespace slipway::app {

/// Waiting without a limit.
inline constexpr std::chrono::seconds kNoLimit = std::chrono::seconds::max();

/// The inputs of one apply: the machine, and the spec as read for it.
struct ApplyAttempt {
  std::unique_ptr<core::Session> session;
  core::HostSpec spec;
  core::ApplyOptions apply;
};

/// How long an apply is repeated; empty: not at all.
struct WaitLimits {
  std::optional<std::chrono::seconds> others;   ///< while a device is in use, or another slipway is at work
  std::optional<std::chrono::seconds> sources;  ///< while an artifact source does not answer
};

/// Applies the attempt, then new attempts, until an apply ends with a result other than `waiting` and no other slipway
/// works on the root, or until the limit has passed; the reasons then include the waiting time. Nothing is locked
/// between two applies, and the pauses become longer. Logs the obstacle whenever it changes.
///
/// @param open_again  reads the spec again
/// Errors: those of an apply; `cancelled` a signal came during a pause.
Result<core::ApplyResult> apply_and_wait(core::Session& session, const ChangeRequest& request,
                                         const core::HostSpec& spec, const core::ApplyOptions& apply,
                                         const WaitLimits& limits,
                                         const std::function<Result<ApplyAttempt>()>& open_again);

}  // namespace slipway::app
