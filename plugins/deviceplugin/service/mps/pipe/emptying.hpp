// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/emptying.hpp - empties folders that pods write to, while they may still do so.
//
// No link is followed and no mount entered. However deep folders go, and however much is in them, the memory and the
// descriptors that are used stay the same: folders in folders are moved up, so that nothing nests deeper than two.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// The folder itself, not what a link leads to; none with errno set.
Fd open_folder(const std::string& path);

enum class Emptied {
  all,    ///< the folder is empty
  some,   ///< there is more than that many steps take; what is gone is gone, and a later call goes on
  stuck,  ///< what is left cannot be removed by this process
};
/// @param most  steps, each of which removes, moves or passes over one name
Emptied empty_folder(const Fd& folder, std::size_t most);

/// Empties a folder that was moved aside (pipe_folder.hpp), and marks it when nothing is left. Ends when there is
/// nothing more to do: with a pod that goes on filling the folder, not before the pod does, and while a pod has the
/// kernel hold what is in it, not at all.
void empty_aside(const std::string& path);

/// Marked: it can be removed without waiting for anybody, since nobody is at work in it any more.
bool emptied_aside(const std::string& path);

}  // namespace slipway::deviceplugin
