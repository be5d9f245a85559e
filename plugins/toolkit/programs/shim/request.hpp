// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/shim/request.hpp - which devices a container asks for: by annotation, by mount, by
// environment variable.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/programs/shim/config.hpp"

namespace slipway::shim {

struct Request {
  std::vector<std::string> devices;   ///< qualified CDI names, each once; "nvidia.com/gpu=all" as it was asked for
  bool driver_only = false;           ///< NVIDIA_VISIBLE_DEVICES=none: the driver's files and no GPU
  std::string source;                 ///< what asked, for messages: "NVIDIA_VISIBLE_DEVICES=0,1"
  std::vector<std::string> warnings;  ///< what was left out, and why

  bool empty() const { return devices.empty() && !driver_only; }
};

/// Annotations count before mounts, mounts before the environment.
/// @param bundle  the OCI configuration of the container
/// @param where   its file, for errors
/// Errors: `invalid` when a member that is looked at is of another type than OCI's, or more than 4096 devices are asked
/// for.
Result<Request> read_request(const Json& bundle, const Config& config, const std::string& where);

}  // namespace slipway::shim
