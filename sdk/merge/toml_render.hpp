// SPDX-License-Identifier: Apache-2.0
// sdk/merge/toml_render.hpp - values and names as TOML 1.0 writes them, on one line.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::merge {

/// Errors: `unsupported` for null, which TOML does not have.
Result<std::string> render_toml(const Json& value);
/// Bare where that is allowed, else quoted.
std::string render_toml_name(const std::string& name);

}  // namespace slipway::merge
