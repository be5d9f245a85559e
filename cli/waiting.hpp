// SPDX-License-Identifier: Apache-2.0
// cli/waiting.hpp - `slipway apply --wait`: an apply that is made again while somebody is in its way.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"

namespace slipway::core {

/// What one apply works with: the machine, and the spec as it was read then.
struct ApplyAttempt {
  std::unique_ptr<Session> session;
  HostSpec spec;
  ApplyOptions apply;
};
Result<ApplyAttempt> open_attempt(const Options& options, TerminalUi& ui);

/// Applies the attempt, and again with new ones, until an apply ends otherwise than `waiting` and no other slipway is
/// at work on the root, or options.wait has passed: the reasons say so then. Nothing is locked between two applies, and
/// the pauses become longer. What is in the way is logged whenever it is something else than before.
///
/// Errors: those of an apply; `cancelled` a signal came in a pause.
Result<ApplyResult> apply_and_wait(Session& session, const Options& options, const HostSpec& spec,
                                   const ApplyOptions& apply, TerminalUi& ui);

}  // namespace slipway::core
