// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_choice.hpp - the kernels of a root that get the driver's modules: the spec's key
// `kernels`, or --kernel.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "driver/detect/receipt.hpp"

namespace slipway::driver {

struct KernelChoice {
  enum class Which { target, all, newest, running, named };
  Which which = Which::target;        ///< target: the kernel that slipway plans for
  std::vector<std::string> releases;  ///< named

  bool is_given() const { return which != Which::target; }
};

/// Reads the key's value; null is `target`. Errors: `invalid` for a value that names no kernels.
Result<KernelChoice> kernel_choice_from(const Json& value);

/// Returns at least one kernel, the newest first, each once. --kernel overrides the spec's choice. Errors: `not_found`
/// there is none, `unsupported` for `running` in a root that is not running; for `target` those of
/// Host::kernel_release().
Result<std::vector<std::string>> chosen_kernels(const KernelChoice& choice, const Host& host);

/// The kernels of a plan, including those that `slipway kernel` has reported as installed or removed.
struct KernelSet {
  std::vector<std::string> releases;  ///< at least one; the first is the newest that must have modules
  /// Those of `releases` that are there because of earlier changes of the kernels, and not because of the spec or
  /// --kernel: one of them without a package does not stop the plan.
  std::vector<std::string> followed;
  std::vector<std::string> without;  ///< kernels that get no modules in this plan; not in `releases`
  bool follows = false;              ///< a kernel was installed or removed since the driver was installed
};

/// Returns the kernels that get modules. For Host::kernel_change() they are those of the receipt and the new kernel, or
/// without the one that is gone. Once there was such a change, kernels of the receipt that are still installed keep
/// their modules, unless --kernel names others, or the spec says `all` or `newest`.
/// Errors: those of chosen_kernels(); `conflict` the kernel that is gone is the only one with modules.
Result<KernelSet> kernels_of_plan(const KernelChoice& choice, const std::optional<Receipt>& installed,
                                  const Host& host);

/// Returns the running kernel; empty in a root that is not running.
std::string running_kernel(const Host& host);

}  // namespace slipway::driver
