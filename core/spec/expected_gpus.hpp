// SPDX-License-Identifier: Apache-2.0
// core/spec/expected_gpus.hpp - `spec.expect`: how many GPUs a host must have, and which.
#pragma once

#include <string>
#include <vector>

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// GPUs are counted on the PCI bus: that needs no driver, and a GPU that the driver does not start counts as there.
struct ExpectedGpus {
  std::size_t count = 0;                    ///< 0: the spec expects nothing
  std::string product = {};                 ///< PCI vendor and device, "10de:2330"; empty: any
  std::vector<std::string> addresses = {};  ///< PCI addresses as sysfs spells them, "0000:65:00.0"; may be fewer
};

/// The schema of `spec.expect`.
const SchemaKey& expected_gpus_schema();

/// @param written  what check_value() gave for the schema without a problem
/// Contradictions (an address twice, more addresses than GPUs) go into `check.problems`.
ExpectedGpus expected_gpus(const Json& written, SchemaCheck& check);

}  // namespace slipway::core
