// SPDX-License-Identifier: Apache-2.0
// base/write/tree.hpp - walks over folders that somebody else may have made, and removes them: without
// recursion, following no link, with few descriptors however deep they are.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <sys/stat.h>

#include <slipway/result.hpp>

namespace slipway {

/// A file, folder, link or node below a folder.
struct TreeEntry {
  int folder;  ///< the open folder that holds it
  const std::string& name;
  const std::string& path;  ///< from the folder where the walk began: "a/b"
  const struct stat& info;  ///< of a link itself
};

/// What a walk does. Both are called in the order of names, what is in a folder between them.
struct TreeVisitor {
  std::function<Result<bool>(const TreeEntry&)> enter;  ///< @return for a folder: whether to walk it
  std::function<Status(const TreeEntry&)> leave = {};   ///< a folder that was walked; may be empty
};

/// Folders inside each other that a walk enters; so many descriptors it has at most.
inline constexpr std::size_t kDeepestFolder = 256;

/// Visits all that is below a folder. Stops at the first error of a visit.
/// @param path  of the folder, for messages
/// Errors: `invalid` folders are nested deeper than kDeepestFolder; system_error(); those of the visits.
Status walk_tree(int folder, const std::string& path, const TreeVisitor& visitor);

/// Removes what has this name in an open folder, and all below it, however deep that is; fine when it is not there.
/// Two descriptors at most, and 256 names of each folder. @param path  for messages
/// Errors: `busy` something is mounted there; system_error().
Status remove_tree(int parent, const std::string& name, const std::string& path);
/// The same by a path of this process.
Status remove_tree(const std::string& path);

}  // namespace slipway
