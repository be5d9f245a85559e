// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/container.hpp - the container that is about to start, as the OCI runtime tells of it.
#pragma once

#include <string>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::hook {

struct Container {
  RootDir root;  ///< its root filesystem
};

/// Reads the state that the runtime writes to a hook's standard input (OCI runtime-spec 1.1, "State"): `root` where it
/// is there (crun), else `root.path` of the bundle's config.json, relative to the bundle.
/// @param file  the state's file; "" or "-": standard input
/// Errors: `invalid` no such state; `denied` when the root is this system's own.
Result<Container> read_container(const std::string& file);

}  // namespace slipway::hook
