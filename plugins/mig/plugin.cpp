// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "mig/component/component.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::mig::Mig>("mig"))
