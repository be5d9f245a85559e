// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/config/settings.hpp - the settings of the service are those of NVIDIA's config file.
#pragma once

#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

using namespace nvidia::config;

}  // namespace slipway::deviceplugin
