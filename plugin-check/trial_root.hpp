// SPDX-License-Identifier: Apache-2.0
// plugin-check/trial_root.hpp - a small root filesystem to try a plugin on, and pictures of it to compare.
#pragma once

#include <map>
#include <string>

#include <slipway/result.hpp>

namespace slipway::plugin_check {

/// Path to "type, mode, content or destination". Leaves out slipway's own records and /run.
using Picture = std::map<std::string, std::string>;

/// Turns the folder into a root with the few files that every distribution has. Errors: those of system_error().
Status make_trial_root(const std::string& folder);

/// Copies a root into the folder, with modes, owners, links and nodes. Errors: `io`, with cp(1)'s message; those of
/// walk_tree(): its folders are nested too deep.
Status copy_trial_root(const std::string& from, const std::string& folder);

/// Adds a foreign file there, with its parent folders. @param path  absolute, inside the root
Status put_foreign_file(const std::string& folder, const std::string& path);

/// Returns the picture of a folder; for an unreadable one, only "/" with the reason.
Picture picture_of(const std::string& folder);

/// Returns "made: A, B; gone: C; changed: D", the first few of each; empty when they are equal.
std::string difference(const Picture& before, const Picture& after);

}  // namespace slipway::plugin_check
