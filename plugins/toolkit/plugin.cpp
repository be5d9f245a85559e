// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "toolkit/cdi_component.hpp"
#include "toolkit/runtime/runtime_component.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::toolkit::Cdi>("cdi"),
               slipway::component<slipway::toolkit::Runtime>("runtime"))
