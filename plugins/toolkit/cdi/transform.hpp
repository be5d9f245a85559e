// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/transform.hpp - changes of a whole spec: order, duplicates, the device `all`, other roots.
#pragma once

#include <string>

#include "nvidia/cdi/spec.hpp"

namespace slipway::toolkit {

/// Removes duplicates; removes from each device what every container gets anyway, unless the device would then be
/// empty; sorts devices by name, nodes and mounts by depth and path. Hooks and environment keep their order. A second
/// call changes nothing.
void tidy(nvidia::cdi::Spec& spec);

/// Adds the device `all` with the edits of all others. Does nothing if it exists, or if there is no other device.
void add_all_device(nvidia::cdi::Spec& spec);

/// Calls tidy(), adds `all` if requested, calls tidy() again, and sets the lowest version.
void finish(nvidia::cdi::Spec& spec, bool with_all);

/// Moves paths of the host at or below `from` to `to`; paths in containers stay. Hooks of kinds that run in the
/// container's namespaces keep their arguments.
void move_host_root(nvidia::cdi::Spec& spec, const std::string& from, const std::string& to);

/// The same for paths in containers: of nodes and mounts, of hooks that are programs of the container, and the
/// arguments of hooks that run in its namespaces.
void move_container_root(nvidia::cdi::Spec& spec, const std::string& from, const std::string& to);

/// Returns `path` with the leading `from` replaced by `to` if that ends at a component; else unchanged.
std::string with_root(const std::string& path, const std::string& from, const std::string& to);

}  // namespace slipway::toolkit
