// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_choice.hpp - which kernels of a root get the driver's modules: the spec's key `kernels`,
// or --kernel.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

struct KernelChoice {
  enum class Which { target, all, newest, running, named };
  Which which = Which::target;        ///< target: the one that slipway plans for
  std::vector<std::string> releases;  ///< named

  bool is_given() const { return which != Which::target; }
};

/// Of the key's value; null is `target`. Errors: `invalid` for anything that names no kernels.
Result<KernelChoice> kernel_choice_from(const Json& value);

/// The newest first, each once; at least one. What --kernel names goes before the spec's choice.
/// Errors: `not_found` there is none, `unsupported` for `running` in a root that does not run; for `target` as
/// Host::kernel_release().
Result<std::vector<std::string>> chosen_kernels(const KernelChoice& choice, const Host& host);

/// The kernel that runs; empty in a root that does not run.
std::string running_kernel(const Host& host);

}  // namespace slipway::driver
