// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/proc_text.hpp - reads the texts that the kernel writes about a process (proc(5)):
// /proc/PID/stat and /proc/PID/mountinfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

struct ProcessStat {
  std::string name;  ///< what the process calls itself (comm): any bytes, ")" and blanks too
  char state = '?';  ///< R, S, D, Z, …
  unsigned parent = 0;
  unsigned session = 0;
  bool kernel_thread = false;
  std::uint64_t threads = 0;
  std::uint64_t start = 0;  ///< clock ticks after the boot; with the pid, identifies the process

  bool ended() const { return state == 'Z' || state == 'X'; }
};

/// Of the text of /proc/PID/stat. Nothing when it has another form: the process has ended meanwhile.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// A line of /proc/PID/mountinfo. All are views into its text.
struct MountLine {
  std::string_view id;
  std::string_view device;         ///< of the file system: "8:1"
  std::string_view root;           ///< the folder of the file system that is mounted
  std::string_view place;          ///< where, as the process sees it; blanks are written \040, see without_escapes()
  std::string_view options;        ///< of the mount: "ro,nosuid"
  std::string_view type;           ///< of the file system: "tmpfs"; empty: the line ends before it
  std::string_view super_options;  ///< of the file system: "rw,memory"
};

/// Keeps the order of the kernel: a later mount covers an earlier one at the same place. Skips malformed lines.
std::vector<MountLine> parse_mounts(std::string_view text);

/// "a\040b" -> "a b".
std::string without_escapes(std::string_view text);

}  // namespace slipway
