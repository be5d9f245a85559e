// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/open_files.hpp - which processes have a device node open.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/process/process_files.hpp"

namespace slipway::nvidia::drain {

/// How many open files are looked at. Any user may have very many open, and each takes some microseconds.
struct OpenFileLimits {
  std::size_t of_user = std::size_t{1} << 19U;  ///< by the effective user of the process
  std::size_t in_all = std::size_t{1} << 20U;
};

struct DeviceNode {
  std::string path;                    ///< "/dev/nvidia3"
  std::optional<DeviceNumber> number;  ///< empty: not known, so that each character device of that name is taken for it
};
/// By the last part of their paths: in a container the folder may be another.
using DeviceNodes = std::map<std::string, DeviceNode>;

/// A user whose open files were not all looked at.
struct UnseenFiles {
  std::uint32_t uid = 0;
  unsigned most = 0;  ///< the process with the most open files: of the user, or of all where all have too many
};

/// Looks at the open files of all processes; on this machine the kernel is asked what they are.
/// @param found  is told the process and the key of the node, once for each open file
/// @return  those whose files were not all looked at; processes of theirs may have more of the nodes open
std::vector<UnseenFiles> look_for_open(const Host& host, const DeviceNodes& nodes, const OpenFileLimits& limits,
                                       const std::function<void(unsigned pid, const std::string& node)>& found);

}  // namespace slipway::nvidia::drain
