// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/trusted_owner.hpp - whose files may be run, or decide what is done: root's, the caller's, and in a user
// namespace slipway's own; whether anybody else could exchange one; and readers and a loader that refuse those.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

class Host;

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
/// The same by what a Host shows. It shows no access control lists, so no group may write there at all.
Status check_only_ours(const Host& host, std::string_view path);

/// The same, and whether it is there. What is there and is ours stays so, since nobody else can exchange it; what is
/// not there may be anybody's a moment later, where a folder like /tmp is above it: take it as absent.
Result<bool> is_there_and_ours(const RootDir& root, std::string_view path);
Result<bool> is_there_and_ours(const Host& host, std::string_view path);

/// The text of a file that decides something, such as one that a key of the spec names. Errors: `denied` somebody else
/// could have written it (check_only_ours()); those of read_regular() and Host::read().
Result<std::string> read_trusted(const RootDir& root, std::string_view path, std::size_t limit_bytes);
Result<std::string> read_trusted(const Host& host, std::string_view path, std::size_t limit_bytes = 1 << 20);

/// The same of a secret: a private key, a password. Errors: `denied` also when everybody may read it.
Result<std::string> read_private(const RootDir& root, std::string_view path, std::size_t limit_bytes);
/// Whether the secret of a host would be read, without a look into it. Errors: `denied`, as for read_private().
Status check_private(const Host& host, std::string_view path);

/// The text of a file that a command line names and that decides what root runs or changes. A pipe of a shell
/// (/dev/fd/63) is as good as a file. Besides root and the caller, the user who called sudo is trusted, and that user's
/// group. Errors: `denied` somebody else could have written it; those of open(2) and read_all().
Result<std::string> read_named(const std::string& file, std::size_t limit_bytes);

/// dlopen(3) of a library that runs with all rights of this process, after its links. A name without a folder is looked
/// for by the loader, in the folders that root configured. Errors: `denied` somebody else could have written the file;
/// `invalid` the loader cannot load it, in its words.
Result<void*> open_library(const std::string& path, int flags);

}  // namespace slipway
