// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text/secret_name.hpp - by which names values are known to be secrets, wherever values are printed,
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

/// Whether the next word of a list of arguments is a secret: "--token", not "--token=x".
bool is_secret_option(std::string_view word);
/// Whether it is the key under which lists of settings have their names: {name: DB_PASSWORD, value: …}, {key: …}.
bool is_key_of_a_name(std::string_view key);
/// Whether it is the key of their values.
bool is_key_of_a_value(std::string_view key);
/// Whether the object is {name: DB_PASSWORD, value: …}: what stands under a key of a value is a secret then.
bool names_a_secret(const Json& object);

/// Whether a text anywhere in the value is a secret by its name, in any of these ways. References, {file: PATH} and
/// {env: NAME}, are not secrets themselves.
bool has_secret(const Json& value);

}  // namespace slipway
