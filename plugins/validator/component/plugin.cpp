// SPDX-License-Identifier: Apache-2.0
#include <slipway/plugin.hpp>

#include "validator/component/validator.hpp"

SLIPWAY_PLUGIN(slipway::component<slipway::validator::Validator>("validator"))
