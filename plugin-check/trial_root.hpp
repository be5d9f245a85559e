// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial_root.hpp - a small root filesystem to try a plugin on, and pictures of it to compare.
#pragma once

#include <map>
#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// Path to "type, mode, content or destination". slipway's own books and /run are left out.
using Picture = std::map<std::string, std::string>;

/// Makes the folder a root with the few files that every distribution has. Errors: those of system_error().
Status make_trial_root(const std::string& folder);

/// Makes the folder a copy of a root: modes, owners, links and nodes as there. Errors: `io`, with what cp(1) said;
/// those of walk_tree(): its folders are nested too deep.
Status copy_trial_root(const std::string& from, const std::string& folder);

/// Puts a file of somebody else's there, with the folders above it. @param path  absolute, inside the root
Status put_foreign_file(const std::string& folder, const std::string& path);

/// Of what cannot be looked at, "/" with the reason.
Picture picture_of(const std::string& folder);

/// "made: A, B; gone: C; changed: D", the first few of each; empty when they are equal.
std::string difference(const Picture& before, const Picture& after);

}  // namespace slipway::core
