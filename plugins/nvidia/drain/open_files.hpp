// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/open_files.hpp - the processes that have a device node open.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/process/process_files.hpp"

namespace slipway::nvidia::drain {

/// Limits for the open files that are read. Any user may have very many, and each takes some microseconds.
struct OpenFileLimits {
  std::size_t of_user = std::size_t{1} << 19U;  ///< per effective user of the process
  std::size_t in_all = std::size_t{1} << 20U;
};

struct DeviceNode {
  std::string path;                    ///< "/dev/nvidia3"
  std::optional<DeviceNumber> number;  ///< empty: unknown; then every character device of that name counts
};
/// By the last part of their paths: the folder may differ in a container.
using DeviceNodes = std::map<std::string, DeviceNode>;

/// A user with more open files than were read.
struct UnseenFiles {
  std::uint32_t uid = 0;
  unsigned most = 0;  ///< the process with the most open files: of the user, or of all users if the total is too high
};

/// Reads the open files of all processes; on this machine their device numbers come from the kernel.
/// @param found  called with the process and the key of the node, once for each open file
/// @return  the users with unread files; their processes may have more of the nodes open
std::vector<UnseenFiles> find_open_files(const Host& host, const DeviceNodes& nodes, const OpenFileLimits& limits,
                                         const std::function<void(unsigned pid, const std::string& node)>& found);

}  // namespace slipway::nvidia::drain
