// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/trusted_owner.hpp - whose files may be run, or decide what is done: root's, the caller's, and in a user
// namespace slipway's own; and whether anybody else could exchange one.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Whether this owner of a file may decide what is run from it: root and the caller always. In a user namespace, users
/// that it does not map are all shown as one, the overflow user (user_namespaces(7)). That one is trusted when the root
/// folder or the running program is shown as theirs too, and never when the namespace has a user of that number.
bool is_trusted_owner(uid_t owner);

/// The same by hand. @param proc  the folder that is /proc
bool is_trusted_owner(uid_t owner, uid_t caller, const std::string& proc);

/// Walks to a file or folder as the kernel does, links and all, and returns its path without links. It, every folder
/// and every link on the way belong to root or the caller, and none is writable by its group or by others; a folder of
/// root's with the sticky bit (/tmp) may be, since only owners replace things there.
/// Errors: `denied`, naming what anybody could change and the command that mends it; system_error().
Result<std::string> safe_path(const std::string& path);

/// What a variable of the environment names, for programs and libraries that are run from there: the path as it is, but
/// as root safe_path() of it, since the environment may be another user's (`sudo -E`).
/// Errors: those of safe_path(), naming the variable.
Result<std::string> path_of_variable(std::string_view variable, const std::string& path);

/// Nobody else could have written what is at `path` of the root, nor put another thing in its place: that, each folder
/// above it and each link on the way belong to such an owner, from the root folder itself on, and neither others nor a
/// group besides 0 and the caller's may write there, nor anybody else by an access control list. Fine as far as the
/// path does not exist. Errors: `denied`, naming who could, and what to do.
Status check_only_ours(const RootDir& root, std::string_view path);

}  // namespace slipway
