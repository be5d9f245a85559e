// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/emptying.hpp - empties folders that pods write to, while they may still do so.
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

/// Empties all of them in turns, so that a pod that goes on filling one keeps no other one full. What is stuck is left.
/// Ends when none is left to be emptied: in such a folder, not before the pod does.
void empty_folders(std::vector<std::string> paths, std::size_t steps_of_a_turn = 10'000);

}  // namespace slipway::deviceplugin
