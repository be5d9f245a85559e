// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/process_files.hpp - what this machine's kernel says of a process, whatever the Host shows.
//
// The text of a link such as /proc/PID/fd/3 is a path in the process's own view of the file system, where a user may
// have put anything at it. Only the kernel knows which file is behind the link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/process/proc_text.hpp>

namespace slipway::nvidia {

struct DeviceNumber {
  unsigned major = 0;
  unsigned minor = 0;
  bool operator==(const DeviceNumber&) const = default;
};

struct FileHere {
  std::optional<DeviceNumber> character_device;  ///< empty: it is something else
  DeviceNumber file_system;
  std::uint64_t inode = 0;
  unsigned mode = 0;
  std::uint32_t uid = 0;
};

/// Nothing when there is no such process.
std::optional<ProcessStat> stat_here(unsigned pid);

/// The Host shows a process of this machine. False for one of a simulated machine or of a recorded tree, where the
/// texts of its links are all that is known of its files.
bool is_here(const Host& host, unsigned pid);

/// The file behind a link of a process: "fd/3", "exe". A file system that does not answer is not waited for.
std::optional<FileHere> file_behind(unsigned pid, const std::string& link);

/// The file at a path as the process sees it, in its own root; no link leads out of that.
std::optional<FileHere> file_in_root_of(unsigned pid, const std::string& path);

/// The file at a path of the Host's root.
std::optional<FileHere> file_in_root(const Host& host, const std::string& path);

}  // namespace slipway::nvidia
