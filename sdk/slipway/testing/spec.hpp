// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/spec.hpp - specs for tests, as slipway makes them of the manifest.
#pragma once

#include <string>

#include <slipway/spec.hpp>

namespace slipway::testing {

/// The section of a component with the manifest's defaults in it and what is `given` over them, member by member. It
/// knows the manifest's keys: to read another one throws std::logic_error, and so does to give one.
///
/// The test is linked with the plugin's NAME-manifest, which slipway_add_plugin() makes; without it this throws.
/// @param component  one that the manifest describes
Spec spec_of(const std::string& component, const Json& given = Json::object());

}  // namespace slipway::testing
