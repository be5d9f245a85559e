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

  /// The kernel's own messages since then, oldest first, at most 40; empty where the log may not be read.
  std::vector<std::string> news();

 private:
  Fd log_;
};

}  // namespace slipway::core
