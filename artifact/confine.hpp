// SPDX-License-Identifier: Apache-2.0
// artifact/confine.hpp - what the worker gives up before it reads the first foreign byte.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Gives up, for the rest of this process's life, what an operation with this request does not need: all capabilities
/// but those over files, system calls, writing anywhere but where the result goes; and, for what reads or makes
/// archives and asks no registry, programs and the network. The first call decides; further ones do nothing.
/// @param request  {"op": its name, "request": its request}
/// @return         {"landlock": the kernel keeps it from writing elsewhere}
/// Errors: system_error() when something cannot be given up.
Result<Json> confine(const Json& request);

/// The folders below which an operation writes; the nearest one that exists stands for one that does not yet.
std::vector<std::string> writable_places(const std::string& op, const Json& request);

}  // namespace slipway::artifact
