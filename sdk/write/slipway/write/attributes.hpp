// SPDX-License-Identifier: Apache-2.0
// sdk/write/slipway/write/attributes.hpp - extended attributes of a path: SELinux label, ACLs, user attributes.
#pragma once

#include <map>
#include <string>

#include <slipway/result.hpp>

namespace slipway {

using Attributes = std::map<std::string, std::string>;

/// Those of `name` in the folder `parent`; a link is not followed. Empty where the filesystem has none. Left out is
/// what only fits the very content it was made for (security.capability, security.ima, security.evm) and what
/// overlayfs keeps for itself.
Attributes read_attributes(int parent, const std::string& name);
/// Sets them, and takes an inherited ACL away that is not among them. An attribute that the filesystem or our rights
/// do not allow is left out: content comes first. Errors: `no_space`, `io`.
Status write_attributes(int parent, const std::string& name, const Attributes& wanted);

}  // namespace slipway
