// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "deviceplugin/component.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::deviceplugin::DevicePlugin>("deviceplugin"))
