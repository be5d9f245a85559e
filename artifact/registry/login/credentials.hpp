// SPDX-License-Identifier: Apache-2.0
// artifact/registry/login/credentials.hpp - who to log in as: docker's and podman's config files and credential
// helpers.
//
// Source of the format: docker's config.json (auths, credHelpers, credsStore) and containers-auth.json(5).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <slipway/result.hpp>

#include "artifact/registry/http/reference.hpp"

namespace slipway::artifact {

/// A login. Never printed, never part of an error.
struct Credentials {
  std::string user;
  std::string password;
  std::string identity_token;  ///< instead of the two: a refresh token for the registry's token service
  std::string found_in;        ///< the file or helper, for messages
};

/// The login for a repository; nothing where none is configured. The first file that knows the registry counts:
/// `auth_file` alone where it is given, else $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json,
/// $XDG_RUNTIME_DIR/containers/auth.json, /run/containers/UID/auth.json, ~/.docker/config.json.
/// Errors: `not_found` there is no `auth_file`; `invalid` a file or a helper's answer is malformed.
Result<std::optional<Credentials>> find_credentials(const Reference& reference, const std::string& auth_file);

/// Asks `docker-credential-HELPER get` for a server; nothing where it knows none.
/// @param limit  until it has answered and ended; then it is killed
/// Errors: `not_found` no such helper in PATH; `timed_out`; `invalid` its name or answer is malformed, or too long.
Result<std::optional<Credentials>> ask_helper(const std::string& helper, const std::string& server,
                                              std::chrono::seconds limit = std::chrono::seconds(30));

/// Starts a process beside this one, before this one gives up what it takes to find a login: others' files, programs,
/// and whatever a helper needs. It looks when it is first asked, and ends with this one. Called while there is one
/// thread, at most once. Errors: system_error().
Status keep_login(const Reference& reference, const std::string& auth_file);

/// find_credentials(), by that process where there is one for these two.
Result<std::optional<Credentials>> login_of(const Reference& reference, const std::string& auth_file);

}  // namespace slipway::artifact
