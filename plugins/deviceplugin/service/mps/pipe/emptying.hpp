// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/emptying.hpp - empties folders that pods write to, while they may still do so.
//
// Links are not followed and mounts are not entered. Memory and descriptors are constant for any depth and size: nested
// folders are moved up, so that the depth is at most two.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// Opens the folder itself, not a link's target; empty with errno set.
Fd open_folder(const std::string& path);

enum class Emptied {
  all,    ///< the folder is empty
  some,   ///< the steps were used up; a later call continues
  stuck,  ///< this process cannot remove the rest
};
/// @param most  steps, each of which removes, moves or passes over one name
Emptied empty_folder(const Fd& folder, std::size_t most);

/// Empties a folder that was moved aside (pipe_folder.hpp), and marks it when it is empty. It does not end while a pod
/// keeps filling the folder, or while a pod blocks a call in the kernel.
void empty_aside(const std::string& path);

/// True when the folder is marked: it can be removed without blocking, because no process works in it any more.
bool emptied_aside(const std::string& path);

}  // namespace slipway::deviceplugin
