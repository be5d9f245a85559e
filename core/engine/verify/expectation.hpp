// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/expectation.hpp - whether the GPUs that the spec expects are there.
#pragma once

#include <optional>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"
#include "core/spec/expected_gpus.hpp"

namespace slipway::core {

/// "slipway.expect": it fails when GPUs are missing from the PCI bus, or one is of another product, and warns of more
/// than expected; not exercised for a root that shows no devices. Nothing where the spec expects nothing.
std::optional<Finding> check_expectation(const Session& session, const ExpectedGpus& expected);

}  // namespace slipway::core
