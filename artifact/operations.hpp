// SPDX-License-Identifier: Apache-2.0
// artifact/operations.hpp - the operations of the artifact worker.
#pragma once

#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/io/progress.hpp"

namespace slipway::artifact {

/// True when there is such an operation.
bool is_operation(std::string_view op);

/// Answers one request. Errors: `invalid` a member of the request is missing or wrong; those of the operation.
/// May throw exceptions of the libraries (no memory), which the caller catches.
Result<Json> answer(std::string_view op, const Json& request, const Reporter& reporter);

}  // namespace slipway::artifact
