// SPDX-License-Identifier: Apache-2.0
// artifact/confine.hpp - what the worker gives up before it reads the first foreign byte.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Gives up, for the rest of this process's life, what an operation with this request does not need: starting programs,
/// other processes, services of this machine, writing anywhere but where the result goes (folders for it are made); the
/// network, unless the source is a registry; and capabilities: but those over files for what takes archives apart, the
/// one to open others' files for what reads them, and none for what speaks with a registry, as long as its cache and
/// output belong to this user. The first call decides; further ones do nothing.
/// @param request  {"op": its name, "request": its request}
/// @return         {"landlock": the kernel keeps it from writing elsewhere, "filter": it takes filters of system calls}
/// Errors: system_error() when something cannot be given up that the kernel could take.
Result<Json> confine(const Json& request);

/// The folders below which an operation with this request writes.
std::vector<std::string> writable_places(const Json& request);

}  // namespace slipway::artifact
