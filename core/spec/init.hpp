// SPDX-License-Identifier: Apache-2.0
// core/spec/init.hpp - writes a first host spec for `slipway init`: commented, and fit to be read back as it is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// The text of a host spec with these components. Suggested values stand as they are; a suggestion that does not fit
/// the schema is left out. A required key without one has its example and a remark that it must be changed. Optional
/// keys stand behind a #, with their default or example, so that removing the # gives a valid spec as well.
/// @param suggested  per component an object of spec keys; may be missing
/// @param name       metadata.name
std::string init_text(const std::vector<const Manifest*>& manifests, const std::map<std::string, Json>& suggested,
                      const std::string& name = "host");

}  // namespace slipway::core
