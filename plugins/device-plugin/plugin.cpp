// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "device-plugin/component.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::deviceplugin::DevicePlugin>("deviceplugin"))
