// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/shim/edit.hpp - the edits of CDI specs, made in the OCI configuration of a container.
#pragma once

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/programs/shim/devices.hpp"

namespace slipway::shim {

/// Environment, nodes with their cgroup rules, network devices, mounts, hooks, Intel RDT and groups, as the CDI
/// specification has it: a variable, node or mount of the same name is replaced, mounts are put in the order of their
/// depth. A hook or rule that is there already is not added again, so that a second edit changes nothing.
///
/// Hooks of NVIDIA's legacy runtime are taken out, since they would inject the devices a second time.
///
/// @param bundle     members that CDI does not know are left alone; on an error it is half edited
/// @param read_node  where what a spec leaves out is read
/// @param where      the bundle's file, for errors
/// Errors: `invalid` when a member has another type than OCI's; those of complete_node().
Status apply_edits(Json& bundle, const nvidia::cdi::Edits& edits, const ReadNode& read_node, const std::string& where);

}  // namespace slipway::shim
