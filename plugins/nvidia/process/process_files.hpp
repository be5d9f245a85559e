// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/process_files.hpp - the data of this machine's kernel about a process, whatever the Host
// shows.
//
// The text of a link such as /proc/PID/fd/3 is a path in the process's own view of the file system, where a user may
// have put any file. Only the kernel knows which file is behind the link.
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

struct LocalFile {
  std::optional<DeviceNumber> character_device;  ///< empty: not a character device
  DeviceNumber file_system;
  std::uint64_t inode = 0;
  unsigned mode = 0;
  std::uint32_t uid = 0;
};

/// Empty when there is no such process.
std::optional<ProcessStat> local_stat(unsigned pid);

/// True when the Host shows a process of this machine. False for a simulated machine or a recorded tree, where only the
/// texts of the process' links are known.
bool is_here(const Host& host, unsigned pid);

/// Returns the file behind a link of a process: "fd/3", "exe". Does not wait for a file system that does not answer.
std::optional<LocalFile> file_behind(unsigned pid, const std::string& link);

/// Returns the file at a path in the process' own root; links cannot lead out of it.
std::optional<LocalFile> file_in_root_of(unsigned pid, const std::string& path);

/// Returns the file at a path in the Host's root.
std::optional<LocalFile> file_in_root(const Host& host, const std::string& path);

}  // namespace slipway::nvidia
