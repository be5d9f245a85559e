// SPDX-License-Identifier: Apache-2.0
// core/host/originals.hpp - copies of files that were replaced or removed, by content: /var/lib/slipway/originals.
//
// One file per content, named by the 64 hex digits of its SHA-256, mode 0600, so that secrets stay private.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/json.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

class RootFs;

class Originals {
 public:
  static constexpr const char* kFolder = "/var/lib/slipway/originals";
  static constexpr off_t kLargest = off_t{4} << 30;  ///< bytes; much larger than an initramfs or a driver library

  /// Borrows `root`.
  explicit Originals(RootFs& root) : root_(root) {}

  /// Copies the descriptor's content from its position on. @return "sha256:…"; `name` is for messages.
  Result<std::string> keep(int fd, std::string_view name);
  /// Opens an original for reading. Errors: `corrupt` when it is missing, has other content or is larger than kLargest;
  /// `denied` when another user may have written it.
  Result<Fd> open(const std::string& digest) const;
  /// Returns the paths of the originals whose digest is not in use. Empty when the folder is a link.
  Result<std::vector<std::string>> unused(const std::set<std::string>& digests_in_use) const;
  /// Removes every original whose digest is not in use, and then the folder if it is empty.
  Status drop_unused(const std::set<std::string>& digests_in_use);

 private:
  RootFs& root_;
};

/// Adds the digest of every original that an image or any other JSON value mentions.
void collect_digests(const Json& value, std::set<std::string>& digests);

}  // namespace slipway::core
