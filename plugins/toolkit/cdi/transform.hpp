// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/transform.hpp - what is done to a whole spec: order, duplicates, the device `all`, other roots.
#pragma once

#include <string>

#include "nvidia/cdi/spec.hpp"

namespace slipway::toolkit {

/// Drops what is there twice; takes from each device what every container gets anyway, unless the device would then be
/// empty; sorts devices by name, nodes and mounts by depth and path. Hooks and environment keep their order.
/// Done twice it changes nothing more.
void tidy(nvidia::cdi::Spec& spec);

/// Adds the device `all`: the edits of all others. Nothing when there is one already, or no other.
void add_all_device(nvidia::cdi::Spec& spec);

/// tidy(), then `all` where it is wanted, tidy() again, and the smallest version.
void finish(nvidia::cdi::Spec& spec, bool with_all);

/// Paths of the host that are `from` or lie below it move to `to`; those in containers stay. Hooks of kinds that run
/// in the container's namespaces keep their arguments.
void move_host_root(nvidia::cdi::Spec& spec, const std::string& from, const std::string& to);

/// Likewise for paths in containers: of nodes and mounts, of hooks that are programs of the container, and the
/// arguments of hooks that run in its namespaces.
void move_container_root(nvidia::cdi::Spec& spec, const std::string& from, const std::string& to);

/// `path` with the leading `from` replaced by `to` where that ends at a component; else as it is.
std::string with_root(const std::string& path, const std::string& from, const std::string& to);

}  // namespace slipway::toolkit
