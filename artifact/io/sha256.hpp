// SPDX-License-Identifier: Apache-2.0
// artifact/io/sha256.hpp - SHA-256 over bytes as they stream by (OpenSSL's EVP).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace slipway::artifact {

/// One running hash; not thread-safe. Throws std::runtime_error when OpenSSL has no SHA-256 (it never should).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(Sha256&&) noexcept = default;

  void update(std::span<const std::byte> bytes);
  /// "sha256:…" of all that was given; starts afresh afterwards.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// "sha256:…" of a text.
std::string digest_of(std::string_view text);

}  // namespace slipway::artifact
