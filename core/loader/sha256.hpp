// SPDX-License-Identifier: Apache-2.0
// core/loader/sha256.hpp - the digest of a file.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// "sha256:…" of all bytes of an open file, from its beginning. `path` goes into messages. Errors: system_error().
Result<std::string> sha256_of_file(int fd, const std::string& path);

}  // namespace slipway::core
