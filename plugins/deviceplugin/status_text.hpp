// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/status_text.hpp - the service's status file for people: a table of the GPUs, and what is wrong.
#pragma once

#include <string>

#include <slipway/json.hpp>

namespace slipway::deviceplugin {

/// @param status  what the service writes to status.json
std::string status_text(const Json& status);

}  // namespace slipway::deviceplugin
