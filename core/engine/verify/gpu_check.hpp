// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/gpu_check.hpp - a short check for GPUs that do not work, for status on a machine whose services do
// not run.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// Asks the spec's components one after the other, those without a service first, and returns their findings about
/// single GPUs (cause "gpu/ADDRESS…"). Leaves out components that fail to answer for a reason other than the time
/// limit.
/// @param limit  for all of them; a component that does not answer in this time gets a warning
std::map<std::string, Findings> check_gpus(Session& session, const HostSpec& spec, std::chrono::milliseconds limit);

}  // namespace slipway::core
