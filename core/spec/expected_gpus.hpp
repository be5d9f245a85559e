// SPDX-License-Identifier: Apache-2.0
// core/spec/expected_gpus.hpp - `spec.expect`: the number and type of GPUs that a host must have.
#pragma once

#include <string>
#include <vector>

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// GPUs are counted on the PCI bus: this needs no driver, and includes a GPU that the driver does not start.
struct ExpectedGpus {
  std::size_t count = 0;                    ///< 0: the spec has no expectation
  std::string product = {};                 ///< PCI vendor and device, "10de:2330"; empty: any
  std::vector<std::string> addresses = {};  ///< PCI addresses as sysfs spells them, "0000:65:00.0"; may be fewer
};

/// The schema of `spec.expect`.
const SchemaKey& expected_gpus_schema();

/// @param written  the result of a check_value() with the schema, without problems
/// Adds contradictions (an address twice, more addresses than GPUs) to `check.problems`.
ExpectedGpus expected_gpus(const Json& written, SchemaCheck& check);

}  // namespace slipway::core
