// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/share.hpp - time-slicing and MPS: devices that are offered several times.
#pragma once

#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

/// Replaces the devices that `sharing` chooses by replicas, under the name that it gives them; others stay as they are.
/// Errors: `invalid` a chosen device is not there, or MPS is asked for what cannot have it.
Status share(const Sharing& sharing, const std::vector<Gpu>& gpus, Resources& resources,
             std::vector<std::string>& notes);

}  // namespace slipway::deviceplugin
