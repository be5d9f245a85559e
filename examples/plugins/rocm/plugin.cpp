// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "containers.hpp"
#include "driver.hpp"

SLIPWAY_PLUGIN(slipway::component<rocm::Driver>("rocm"), slipway::component<rocm::Containers>("rocm-cdi"))
