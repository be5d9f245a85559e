// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "gfd/gfd.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::gfd::Gfd>("gfd"))
