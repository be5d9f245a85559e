// SPDX-License-Identifier: Apache-2.0
// plugin.cpp - the entry of the plugin sysctl.
#include <slipway/plugin.hpp>

#include "sysctl.hpp"

SLIPWAY_PLUGIN(slipway::component<sysctl::Sysctl>("sysctl"))
