// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/causes.hpp - findings by their cause, for verify and doctor: one entry for each cause, with what
// comes of it.
//
// Finding::cause names another finding, or a thing by its path ("gpu/0000:65:00.0"). What stands deeper in a path comes
// of what is above it: a finding about "gpu/0000:65:00.0/lost" is a consequence of one about "gpu/0000:65:00.0", and
// one about "gpu/0000:65:00.0/lost/labels" of both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

namespace slipway::core {

/// The finding of a running apply, and of one that was cut off.
inline constexpr const char* kApplyFinding = "slipway.apply";
/// How the finding NAME.apply begins of a component that waits for what is in the way.
inline constexpr const char* kLeftWaiting = "the last apply left it waiting";
/// The remedy of a component whose last apply is done but for a reboot.
inline constexpr const char* kReboot = "reboot";

/// What the finding `.owned` says of a component's own work, which the component's findings explain.
inline constexpr const char* kOwnWorkDiffers = "not as slipway left it: ";

/// Borrows from the findings that it was made of.
struct CauseEntry {
  const Finding* head;                       ///< fails or warns; its remedy is the one for all
  std::vector<const Finding*> consequences;  ///< in the order of the components; one of several causes is one of each
  Finding::Status worst() const;             ///< fail where any of them fails
};

/// What fails or warns, and what was not tried because of it: a running apply first, then what fails, then by the
/// number of consequences.
std::vector<CauseEntry> entries_of(const std::map<std::string, Findings>& findings);

/// Names the causes that follow from the findings themselves:
/// - a component that cannot be planned, or that the last apply left undone, is the cause of what an apply would cure
///   in it; where it cannot be planned, no finding of it advises an apply any more;
/// - so are edits that an apply keeps;
/// - otherwise that something is not as slipway left it comes of the component's own finding about the same;
/// - a file that stops the component's checks comes of the component's own finding about the same place in it;
/// - what a service reports comes of the finding of its component that has the same text, and says what to do;
/// - while an apply runs, what an apply cures is on its way: it is not exercised.
/// @param apply_runs  another slipway changes the root now
void name_causes(std::map<std::string, Findings>& findings, bool apply_runs);

/// Something is on its way by an apply that runs, so that it cannot be judged yet.
bool awaits_apply(const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
