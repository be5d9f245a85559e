// SPDX-License-Identifier: Apache-2.0
#include "core/host/digest.hpp"

#include <array>
#include <cerrno>
#include <vector>

#include <openssl/evp.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kReadBytes = 1 << 18;

EVP_MD_CTX* md(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(md(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(md(context_.get()), EVP_sha256(), nullptr); }

void Sha256::update(std::string_view bytes) { EVP_DigestUpdate(md(context_.get()), bytes.data(), bytes.size()); }

std::string Sha256::digest() {
  std::array<unsigned char, kHexDigits / 2> bytes{};
  unsigned length = 0;
  EVP_DigestFinal_ex(md(context_.get()), bytes.data(), &length);
  std::string text(kPrefix);
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string digest_of(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.digest();
}

Result<std::string> digest_of_file(int fd, std::string_view name) {
  Sha256 sum;
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return sum.digest();
    if (got > 0) sum.update({buffer.data(), static_cast<std::size_t>(got)});
    if (got < 0 && errno != EINTR) return system_error("read", name, errno);
  }
}

std::string digest_hex(std::string_view digest) {
  if (!digest.starts_with(kPrefix) || digest.size() != kPrefix.size() + kHexDigits) return {};
  const std::string_view hex = digest.substr(kPrefix.size());
  return hex.find_first_not_of("0123456789abcdef") == std::string_view::npos ? std::string(hex) : std::string();
}

}  // namespace slipway::core
