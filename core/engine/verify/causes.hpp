// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/causes.hpp - groups findings by their cause, for verify and doctor: one entry for each cause, with
// its consequences.
//
// Finding::cause names another finding, or a thing by its path ("gpu/0000:65:00.0"). A deeper path is a consequence of
// the paths above it: a finding about "gpu/0000:65:00.0/lost" is a consequence of one about "gpu/0000:65:00.0", and one
// about "gpu/0000:65:00.0/lost/labels" of both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

namespace slipway::core {

/// The finding about an apply that is running, and about one that was interrupted.
inline constexpr const char* kApplyFinding = "slipway.apply";
/// The start of the cause of a finding about a single GPU: "gpu/0000:65:00.0".
inline constexpr const char* kGpuCause = "gpu/";
/// The start of the text of the finding NAME.apply about a component that waits.
inline constexpr const char* kLeftWaiting = "the last apply left it waiting";
/// The remedy for a component whose last apply is complete except for a reboot.
inline constexpr const char* kReboot = "reboot";

/// The start of the text of NAME.owned when only a component's own actions differ. Its other findings explain these.
inline constexpr const char* kOwnWorkDiffers = "not as slipway left it: ";

/// Borrows from the findings that it was made from.
struct CauseEntry {
  const Finding* head;                       ///< fails or warns; its remedy covers the whole entry
  std::vector<const Finding*> consequences;  ///< in the order of the components; listed under each of its causes
  Finding::Status worst() const;             ///< fail when any of them fails
};

/// Returns entries for the findings that fail or warn, and those not exercised because of them: a running apply first,
/// then failures, then by number of consequences.
std::vector<CauseEntry> entries_of(const std::map<std::string, Findings>& findings);

/// Sets the causes that follow from the findings themselves:
/// - a component that cannot be planned, or that the last apply left incomplete, is the cause of its findings that an
///   apply would fix; when it cannot be planned, its findings no longer advise an apply;
/// - the same holds for edits that an apply keeps, and for a file that made the last apply fail and still does: the
///   remedy of the apply names both steps;
/// - otherwise the finding that a thing differs from slipway's record is a consequence of the component's own finding
///   about it;
/// - a file that stops the component's checks is a consequence of the component's own finding about the same place in
/// it;
/// - a service's report is a consequence of its component's finding that has the same text and a remedy;
/// - while an apply runs, findings that it will fix are not exercised.
/// @param apply_runs  another slipway changes the root now
void name_causes(std::map<std::string, Findings>& findings, bool apply_runs);

/// True when a running apply will change the thing, so that it cannot be judged yet.
bool awaits_apply(const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
