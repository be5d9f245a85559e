// SPDX-License-Identifier: Apache-2.0
// base/write/tree.hpp - walks over untrusted folders, and removes them: without recursion, following no
// link, with few descriptors at any depth.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <sys/stat.h>

#include <slipway/result.hpp>

namespace slipway::base {

/// A file, folder, link or node below a folder.
struct TreeEntry {
  int folder;  ///< the open folder that contains it
  const std::string& name;
  const std::string& path;  ///< from the folder where the walk started: "a/b"
  const struct stat& info;  ///< for a link: of the link itself
};

/// The callbacks of a walk. They are called in the order of names; the contents of a folder come between its enter and
/// leave.
struct TreeVisitor {
  std::function<Result<bool>(const TreeEntry&)> enter;  ///< @return for a folder: true to walk it
  std::function<Status(const TreeEntry&)> leave = {};   ///< called after a folder was walked; may be empty
};

/// The maximum depth of folders in a walk, and of open descriptors.
inline constexpr std::size_t kDeepestFolder = 256;

/// Visits everything below a folder. Stops at the first error of a visit.
/// @param path  of the folder, for messages
/// Errors: `invalid` folders are nested deeper than kDeepestFolder; system_error(); those of the visits.
Status walk_tree(int folder, const std::string& path, const TreeVisitor& visitor);

/// Removes the entry of this name in an open folder, and everything below it, at any depth; succeeds when it does not
/// exist. Uses at most two descriptors, and 256 names of each folder. @param path  for messages
/// Errors: `busy` something is mounted there; system_error().
Status remove_tree(int parent, const std::string& name, const std::string& path);
/// The same for a path of this process.
Status remove_tree(const std::string& path);

}  // namespace slipway::base
