// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text/secret_name.hpp - recognizes secrets by their names, wherever values are printed, logged, compared
// or written to files that every user may read.
#pragma once

#include <string_view>

#include <slipway/json.hpp>

namespace slipway {

/// True when a value of this name is a secret: "password", "REGISTRY_TOKEN", "identitytoken", "auth", "NGC_KEY".
bool is_secret_name(std::string_view name);
/// The same for any name in a dotted key of a spec, "env.DB_PASSWORD". A reference ("signing.password.file") is not
/// itself a secret.
bool is_secret_key(std::string_view key);

/// True when the next word in a list of arguments is a secret: "--token", not "--token=x".
bool is_secret_option(std::string_view word);
/// True for the key that holds the name in lists of settings: {name: DB_PASSWORD, value: …}, {key: …}.
bool is_key_of_a_name(std::string_view key);
/// True for the key that holds the value in such lists.
bool is_key_of_a_value(std::string_view key);
/// True when the object is {name: DB_PASSWORD, value: …}: its values are then secrets.
bool names_a_secret(const Json& object);

/// True when any text in the value is a secret by its name, in any of these ways. References, {file: PATH} and {env:
/// NAME}, are not themselves secrets.
bool has_secret(const Json& value);

}  // namespace slipway
