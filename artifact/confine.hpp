// SPDX-License-Identifier: Apache-2.0
// artifact/confine.hpp - drops the worker's access before it reads the first foreign byte.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Drops, for the rest of this process's life, all access that an operation with this request does not need: starting
/// programs, other processes, services of this machine, and writing anywhere except where the result goes (folders for
/// it are created); the network, unless the source is a registry; and capabilities, except those over files for
/// operations that unpack archives, and the one to open other users' files for operations that read them; an operation
/// that contacts a registry keeps no capabilities, as long as its cache and output belong to this user. The first call
/// decides; further calls do nothing.
/// @param request  {"op": its name, "request": its request}
/// @return         {"landlock": the kernel prevents writing elsewhere, "filter": it supports filters of system calls}
/// Errors: system_error() when access cannot be dropped although the kernel could.
Result<Json> confine(const Json& request);

/// Returns the folders below which an operation with this request writes.
std::vector<std::string> writable_places(const Json& request);

}  // namespace slipway::artifact
