// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/sha256.hpp"

#include <array>
#include <stdexcept>

#include <openssl/evp.h>

namespace slipway::artifact {
namespace {

void start(EVP_MD_CTX* context) {
  if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL offers no SHA-256");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { start(context_.get()); }
Sha256::~Sha256() = default;
void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

void Sha256::update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
    throw std::runtime_error("OpenSSL's SHA-256 failed");
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
  unsigned length = 0;
  if (EVP_DigestFinal_ex(context_.get(), raw.data(), &length) != 1)
    throw std::runtime_error("OpenSSL's SHA-256 failed");
  start(context_.get());
  std::string text = "sha256:";
  for (unsigned i = 0; i < length; ++i) {
    text += "0123456789abcdef"[raw[i] >> 4];
    text += "0123456789abcdef"[raw[i] & 15];
  }
  return text;
}

std::string digest_of(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

}  // namespace slipway::artifact
