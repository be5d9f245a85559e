// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/secret.hpp - reads the secret that a reference names, from given sources of files and variables.
//
// A file is trusted when only its owner, root or the caller, could have written it (check_only_ours()), and counts as
// secret when not every user may read it. Messages name files and variables, and quote none of their content.
#pragma once

#include <functional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// The sources of files and variables.
struct SecretPlaces {
  std::function<Result<RootDir>()> files;                        ///< the root for paths of {"file": PATH}
  std::function<const char*(const std::string& name)> variable;  ///< returns its value, null when it is not set
};

/// As Host::secret().
Result<std::string> read_secret(const Json& reference, std::size_t limit_bytes, const SecretPlaces& places);

}  // namespace slipway::detail
