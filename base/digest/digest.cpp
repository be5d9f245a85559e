// SPDX-License-Identifier: Apache-2.0
// Uses OpenSSL's plain SHA-256: 20 KB with its assembly when linked statically. EVP needs all of libcrypto, 5 MB in
// each image, and its first use initializes all of that, a millisecond at each start.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest/digest.hpp"

#include <array>
#include <cerrno>
#include <vector>

#include <openssl/sha.h>
#include <unistd.h>

namespace slipway::base {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kReadBytes = 1 << 18;

SHA256_CTX* sum(void* context) { return static_cast<SHA256_CTX*>(context); }

}  // namespace

void Sha256::Free::operator()(void* context) const { delete sum(context); }

Sha256::Sha256() : context_(new SHA256_CTX) { SHA256_Init(sum(context_.get())); }

void Sha256::update(std::string_view bytes) { SHA256_Update(sum(context_.get()), bytes.data(), bytes.size()); }

void Sha256::update(std::span<const std::byte> bytes) {
  SHA256_Update(sum(context_.get()), bytes.data(), bytes.size());
}

std::string Sha256::digest() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
  SHA256_Final(bytes.data(), sum(context_.get()));
  SHA256_Init(sum(context_.get()));
  std::string text(kPrefix);
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string digest_of(std::string_view bytes) {
  Sha256 all;
  all.update(bytes);
  return all.digest();
}

Result<std::string> digest_of_file(int fd, std::string_view name) {
  Sha256 all;
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return all.digest();
    if (got > 0) all.update({buffer.data(), static_cast<std::size_t>(got)});
    if (got < 0 && errno != EINTR) return system_error("read", name, errno);
  }
}

std::string digest_hex(std::string_view digest) {
  if (!digest.starts_with(kPrefix) || digest.size() != kPrefix.size() + kHexDigits) return {};
  const std::string_view hex = digest.substr(kPrefix.size());
  return hex.find_first_not_of("0123456789abcdef") == std::string_view::npos ? std::string(hex) : std::string();
}

}  // namespace slipway::base
