// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/config/sharing.hpp - the section `sharing` of a config.
#pragma once

#include "deviceplugin/config/settings.hpp"

namespace slipway::deviceplugin {

/// timeSlicing or mps, with a list of resources, or the short form `replicas: N` right below. Errors: `invalid`.
Status take_sharing(const Node& node, Settings& settings);

}  // namespace slipway::deviceplugin
