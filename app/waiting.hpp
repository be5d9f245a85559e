// SPDX-License-Identifier: Apache-2.0
// app/waiting.hpp - an apply that is made again while another program or a silent artifact source is in its way.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/recorded_apply.hpp"
#include "core/engine/apply/apply.hpp"

namespace slipway::core {

/// Waiting without a limit.
inline constexpr std::chrono::seconds kNoLimit = std::chrono::seconds::max();

/// What one apply works with: the machine, and the spec as it was read then.
struct ApplyAttempt {
  std::unique_ptr<Session> session;
  HostSpec spec;
  ApplyOptions apply;
};

/// For how long an apply is made again; nothing: not at all.
struct WaitLimits {
  std::optional<std::chrono::seconds> others;   ///< while something is in use, or another slipway is at work
  std::optional<std::chrono::seconds> sources;  ///< while an artifact source does not answer
};

/// Applies the attempt, and again with new ones, until an apply ends otherwise than `waiting` and no other slipway is
/// at work on the root, or the limit has passed: the reasons say so then. Nothing is locked between two applies, and
/// the pauses become longer. What is in the way is logged whenever it is something else than before.
///
/// @param open_again  reads the spec anew
/// Errors: those of an apply; `cancelled` a signal came in a pause.
Result<ApplyResult> apply_and_wait(Session& session, const ChangeRequest& request, const HostSpec& spec,
                                   const ApplyOptions& apply, const WaitLimits& limits,
                                   const std::function<Result<ApplyAttempt>()>& open_again);

}  // namespace slipway::core
