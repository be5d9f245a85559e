// SPDX-License-Identifier: Apache-2.0
// plugins/driver/kernels/kernels_tool.hpp - `slipway driver kernels`: a root's kernels, and whether each has the
// driver's modules.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "base/kernels/kernels.hpp"
#include "driver/detect/receipt.hpp"

namespace slipway::driver {

/// One kernel of a root.
struct KernelState {
  std::string release;
  bool is_there = false;    ///< it is in /lib/modules; else only the receipt names it
  std::string modules;      ///< "installed", "damaged", "none", or "foreign": from a driver that is not slipway's
  std::string text;         ///< remark about the modules; may be empty
  bool compiled = false;    ///< the modules were compiled here
  std::string manifest;     ///< digest of their package
  bool is_running = false;  ///< now, in a running root
};

struct RootKernels {
  std::optional<Receipt> receipt;
  std::vector<KernelState> kernels;  ///< the newest first
  base::NextBoot next;
};

RootKernels read_root_kernels(const Host& host);
Json to_json(const RootKernels& root);
/// Returns a table, and the next boot's kernel.
std::string to_text(const RootKernels& root);

CommandTable kernels_line();
/// Runs the tool. @param host  the root, unless --root is given
Result<int> run_kernels(const CommandWords& words, const Host& host, ToolIo& io);

}  // namespace slipway::driver
