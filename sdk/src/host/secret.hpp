// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/secret.hpp - reads the secret that a reference names, wherever its files and variables come from.
//
// A file is believed when only its owner, root or the caller, could have written it (check_only_ours()), and kept when
// not everybody may read it. Messages name files and variables, and quote nothing of what is in them.
#pragma once

#include <functional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// Where references lead to.
struct SecretPlaces {
  std::function<Result<RootDir>()> files;                        ///< whose paths {"file": PATH} means
  std::function<const char*(const std::string& name)> variable;  ///< its value, null where it is not set
};

/// As Host::secret().
Result<std::string> read_secret(const Json& reference, std::size_t limit_bytes, const SecretPlaces& places);

}  // namespace slipway::detail
