// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/spec.hpp - specs for tests, as slipway makes them from the manifest.
#pragma once

#include <string>

#include <slipway/spec.hpp>

namespace slipway::testing {

/// Returns the section of a component with the manifest's defaults, overridden by `given` member by member. It knows
/// the manifest's keys: reading or giving another one throws std::logic_error.
///
/// The test is linked with the plugin's NAME-manifest, which slipway_add_plugin() makes; without it this throws.
/// @param component  one that the manifest describes
Spec spec_of(const std::string& component, const Json& given = Json::object());

}  // namespace slipway::testing
