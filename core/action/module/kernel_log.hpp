// SPDX-License-Identifier: Apache-2.0
// core/action/module/kernel_log.hpp - what the kernel says while something is tried (/dev/kmsg).
#pragma once

#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Remembers where the kernel's log ends when it is made.
class KernelLog {
 public:
  explicit KernelLog(const RootDir& root);

  /// The messages since then, oldest first, at most 40; empty where the log may not be read.
  std::vector<std::string> news();

 private:
  Fd log_;
};

/// The text of one record of /dev/kmsg ("6,1,2,-;text\n KEY=value\n"), non-printable bytes as the kernel escapes them.
std::string kernel_message(const std::string& record);

}  // namespace slipway::core
