// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/read_only.hpp - finds changes that a file system that is mounted read-only would refuse.
#pragma once

#include <slipway/result.hpp>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// Fails when a change of the component writes to a folder on a file system that is mounted read-only. Finds out
/// without writing. Errors: `read_only` with the first such path; details name the others.
Status check_writable(Session& session, const PlannedComponent& planned);

}  // namespace slipway::core
