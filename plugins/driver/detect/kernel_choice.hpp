// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_choice.hpp - the kernels of a root that get the driver's modules: the spec's key
// `kernels`, or --kernel.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

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

/// Returns the running kernel; empty in a root that is not running.
std::string running_kernel(const Host& host);

}  // namespace slipway::driver
