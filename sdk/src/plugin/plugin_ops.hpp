// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin/plugin_ops.hpp - what a component answers to each operation of sdk/slipway/abi.h.
#pragma once

#include <functional>
#include <string>

#include <slipway/abi.h>

#include <slipway/component.hpp>

namespace slipway::detail {

/// Reads the request, asks the component, and writes its answer. Errors: the component's; `unsupported` when it has no
/// such ability; `invalid` when the request lacks something.
using Operation = std::function<Result<Json>(Component&, const Json& request, const slipway_services&)>;

/// nullptr for an operation that is not known.
const Operation* find_operation(const std::string& name);

}  // namespace slipway::detail
