// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/complete.hpp - fills a checked value: defaults, absolute paths, one form per type.
#pragma once

#include <string>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// @param written  what check_value() gave without a problem
/// @param folder   absolute: what relative paths are relative to
/// @return the value with defaults filled in, at every depth (an object that is not given is there when it has defaults
///         and no required key), paths absolute, artifact sources in their long form with tag and digest split off
Json complete_value(const Json& written, const SchemaKey& schema, const std::string& folder);

}  // namespace slipway::core
