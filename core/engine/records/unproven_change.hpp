// SPDX-License-Identifier: Apache-2.0
// core/engine/records/unproven_change.hpp - keeps the layers that a change replaced until a boot has verified the
// change, so that a rollback needs no network.
//
// A change counts as verified only by a boot other than the one that applied it. A root without a boot id (an image, a
// container without the kernel's files) keeps nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// Returns the kernel's id of this boot; empty where it cannot be read.
std::string boot_id_of(const Host& host);

/// Returns the former sets of a store that stay until a boot has verified what replaced them.
Result<std::vector<std::string>> kept_sets(const StateDir& state, const std::string& store);

/// Records the sets of layers that the component's change is about to replace, before it does.
/// @param base  the number of the active generation; 0: nothing is applied yet
Status note_former_sets(Session& session, const PlannedComponent& component, int base);

/// Brings the record up to date after a run: a set that is active again no longer waits for a boot.
/// @param generation  the generation that is active now
Status settle_unproven(Session& session, int generation);

/// Removes the layers that a verified change has replaced, and its record.
Status drop_verified(Session& session);

/// Records that this boot has verified the change, if it waits for one and its components passed. Does nothing while
/// another slipway is at work, or in the boot that applied the change.
Status note_verified_boot(Session& session, const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
