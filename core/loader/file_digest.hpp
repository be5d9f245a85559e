// SPDX-License-Identifier: Apache-2.0
// core/loader/file_digest.hpp - the digest of a file.
#pragma once

#include <memory>
#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// The digest of the file at a path, computed at the first get(): hashing all plugins takes longer than most commands.
/// Copies share the result; thread-safe.
class FileDigest {
 public:
  FileDigest() = default;
  explicit FileDigest(std::string path);
  /// "sha256:…". Errors: system_error().
  Result<std::string> get() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace slipway::core
