// SPDX-License-Identifier: Apache-2.0
// tests/component/service/beside.cpp - the service of the component that plans in another library.
#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service.hpp>

#include "ticking.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::ticker::Ticking>>("neighbour"))
