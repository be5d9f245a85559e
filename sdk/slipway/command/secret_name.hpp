// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/command/secret_name.hpp - by which names values are known to be secrets, wherever values are printed,
// logged, compared or written to files that everybody may read.
#pragma once

#include <string_view>

#include <slipway/json.hpp>

namespace slipway {

/// Whether what stands under this name is a secret: "password", "REGISTRY_TOKEN", "identitytoken", "auth", "NGC_KEY".
bool is_secret_name(std::string_view name);
/// The same of a dotted key of a spec, "env.DB_PASSWORD": any of its names. A reference ("signing.password.file") is
/// not a secret itself.
bool is_secret_key(std::string_view key);

/// Whether a text anywhere in the value stands under the name of a secret. References, {file: PATH} and {env: NAME},
/// are not secrets themselves.
bool has_secret(const Json& value);

}  // namespace slipway
