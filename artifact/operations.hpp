// SPDX-License-Identifier: Apache-2.0
// artifact/operations.hpp - the operations that the artifact worker answers.
#pragma once

#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/io/progress.hpp"

namespace slipway::artifact {

/// Whether there is such an operation.
bool is_operation(std::string_view op);

/// Answers one request. Errors: `invalid` a member of the request is missing or wrong; those of the operation.
/// May throw what the libraries throw (no memory): the caller stops it.
Result<Json> answer(std::string_view op, const Json& request, const Reporter& reporter);

}  // namespace slipway::artifact
