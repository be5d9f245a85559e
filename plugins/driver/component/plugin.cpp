// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "driver/component/driver.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::driver::Driver>("driver"))
