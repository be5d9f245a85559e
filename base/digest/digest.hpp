// SPDX-License-Identifier: Apache-2.0
// base/digest/digest.hpp - SHA-256 of bytes and files, written as OCI writes digests: "sha256:" and 64
// hex digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::base {

/// A running SHA-256.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  void update(std::span<const std::byte> bytes);
  /// Returns "sha256:" + 64 lower-case hex digits of all data so far; starts again afterwards.
  std::string digest();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string digest_of(std::string_view bytes);
/// Reads from the descriptor's position to the end. Errors: `io`; `name` is for the message.
Result<std::string> digest_of_file(int fd, std::string_view name);
/// Returns the 64 hex digits of a digest; empty when `digest` is not a digest.
std::string digest_hex(std::string_view digest);

}  // namespace slipway::base
