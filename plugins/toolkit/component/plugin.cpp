// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "toolkit/cdi/component/component.hpp"
#include "toolkit/runtime/component/component.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::toolkit::Cdi>("cdi"),
               slipway::component<slipway::toolkit::Runtime>("runtime"))
