// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/trusted_owner.hpp - decides which files are trusted to be run or to control slipway: those of root, of
// the caller, and in a user namespace slipway's own, if no other user could replace them; and readers and a loader that
// refuse all others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

class Host;

/// True when files of this owner may be run or trusted: root and the caller always. In a user namespace, unmapped users
/// all appear as the overflow user (user_namespaces(7)). The overflow user is trusted when the root folder or the
/// running program also appears to belong to that user, and never when the namespace has a user of that number.
bool is_trusted_owner(uid_t owner);

/// The same with explicit arguments. @param proc  the folder used as /proc
bool is_trusted_owner(uid_t owner, uid_t caller, const std::string& proc);

/// Walks to a file or folder as the kernel does, including links, and returns its path without links. The file, every
/// folder and every link on the way must belong to root or the caller, and none may be writable by its group or by
/// others, except for root's folders with the sticky bit (/tmp), where only owners replace things.
/// Errors: `denied`, naming what another user could change and the command that fixes it; system_error().
Result<std::string> safe_path(const std::string& path);

/// Returns the path named by an environment variable, for running programs and libraries from there: as it is, but for
/// root its safe_path(), since the environment may be another user's (`sudo -E`).
/// Errors: those of safe_path(), naming the variable.
Result<std::string> path_of_variable(std::string_view variable, const std::string& path);

/// Checks that no other user could have written or replaced the file at `path` of the root: the file, each folder above
/// it and each link on the way, from the root folder on, belong to a trusted owner, and neither others, nor a group
/// except 0 and the caller's, nor users in an access control list may write there. Succeeds for missing parts of the
/// path. Errors: `denied`, naming who could write, and what to do.
Status check_only_ours(const RootDir& root, std::string_view path);
/// The same through a Host. It shows no access control lists, so no group may write there at all.
Status check_only_ours(const Host& host, std::string_view path);

/// The same, and returns whether the file exists. A trusted file stays trusted, since no other user can replace it. A
/// missing one may be created by any user a moment later, when a folder like /tmp is above it: treat it as absent.
Result<bool> exists_and_is_trusted(const RootDir& root, std::string_view path);
Result<bool> exists_and_is_trusted(const Host& host, std::string_view path);

/// Returns the text of a file that controls slipway, such as one that a key of the spec names. Errors: `denied` another
/// user could have written it (check_only_ours()); those of read_regular() and Host::read().
Result<std::string> read_trusted(const RootDir& root, std::string_view path, std::size_t limit_bytes);
Result<std::string> read_trusted(const Host& host, std::string_view path, std::size_t limit_bytes = 1 << 20);

/// The same for a secret: a private key, a password. Errors: `denied` also when every user may read it.
Result<std::string> read_private(const RootDir& root, std::string_view path, std::size_t limit_bytes);
/// Checks that a secret of the host would be read, without reading it. Errors: `denied`, as for read_private().
Status check_private(const Host& host, std::string_view path);

/// Returns the text of a file that a command line names and that controls what root runs or changes. A shell's pipe
/// (/dev/fd/63) is accepted too. Besides root and the caller, the user who called sudo is trusted, and that user's
/// group. Errors: `denied` another user could have written it; those of open(2) and read_all().
Result<std::string> read_named(const std::string& file, std::size_t limit_bytes);

/// Calls dlopen(3) for a library, with links resolved, which runs with all rights of this process. The loader looks for
/// a name without a folder, in the folders that root configured. Errors: `denied` another user could have written the
/// file; `invalid` the loader cannot load it, with the loader's message.
Result<void*> open_library(const std::string& path, int flags);

}  // namespace slipway
