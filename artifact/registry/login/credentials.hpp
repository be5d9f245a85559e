// SPDX-License-Identifier: Apache-2.0
// artifact/registry/login/credentials.hpp - finds logins: docker's and podman's config files and credential helpers.
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
  std::string identity_token;  ///< instead of user and password: a refresh token for the registry's token service
  std::string found_in;        ///< the file or helper, for messages
};

/// Returns the login for a repository; nothing when none is configured. Uses the first file that has the registry: only
/// `auth_file` when that is given, else $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json,
/// $XDG_RUNTIME_DIR/containers/auth.json, /run/containers/UID/auth.json, ~/.docker/config.json.
/// Errors: `not_found` `auth_file` does not exist; `invalid` a file or a helper's answer is malformed.
Result<std::optional<Credentials>> find_credentials(const Reference& reference, const std::string& auth_file);

/// Runs `docker-credential-HELPER get` for a server; returns nothing when it has no login.
/// @param limit  for its answer and its end; then it is killed
/// Errors: `not_found` no such helper in PATH; `timed_out`; `invalid` its name or answer is malformed, or too long.
Result<std::optional<Credentials>> ask_helper(const std::string& helper, const std::string& server,
                                              std::chrono::seconds limit = std::chrono::seconds(30));

/// Starts a process beside this one, before this one drops the access for finding a login: other users' files,
/// programs, and the needs of a helper. It looks for the login at the first request, and ends with this process. Call
/// it while there is only one thread, at most once. Errors: system_error().
Status keep_login(const Reference& reference, const std::string& auth_file);

/// Calls find_credentials(), in that process if there is one for this repository and file.
Result<std::optional<Credentials>> login_of(const Reference& reference, const std::string& auth_file);

}  // namespace slipway::artifact
