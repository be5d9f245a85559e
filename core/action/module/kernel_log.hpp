// SPDX-License-Identifier: Apache-2.0
// core/action/module/kernel_log.hpp - reads the kernel's messages during an operation (/dev/kmsg).
#pragma once

#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Remembers the end of the kernel's log at construction.
class KernelLog {
 public:
  explicit KernelLog(const RootDir& root);

  /// Returns the kernel's own messages since then, oldest first, at most 40. Empty when the log may not be read.
  std::vector<std::string> news();

 private:
  Fd log_;
};

}  // namespace slipway::core
