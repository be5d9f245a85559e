// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>

#include "artifact/registry/login/credentials.hpp"

namespace slipway::artifact {

std::string base64_encode(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> base64_decode(const std::string& text) {
  std::string padded = text;
  while (padded.size() % 4 != 0) padded += '=';
  std::string bytes(padded.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  if (length < 0) return {};
  std::size_t padding = 0;  // EVP_DecodeBlock counts the padding as zero bytes
  while (padding < 2 && padding < padded.size() && padded[padded.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

}  // namespace slipway::artifact
