// SPDX-License-Identifier: Apache-2.0
#include "driver/enroll/password_hash.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

namespace slipway::driver {
namespace {

constexpr std::size_t kSumBytes = 64;
constexpr int kHashRounds = 5000;
constexpr std::size_t kSaltLength = 16;
constexpr std::size_t kLongestPassword = 256;
constexpr std::string_view kHashDigits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::string sha512(std::string_view text) {
  std::array<unsigned char, kSumBytes> digest{};
  unsigned int size = kSumBytes;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha512(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string repeated(const std::string& text, std::size_t size) {
  std::string out;
  while (out.size() < size) out += text;
  out.resize(size);
  return out;
}

/// The six bits at a time of three bytes, the last byte's first.
void add_digits(std::string& text, const std::string& sum, int high, int middle, int low, int count) {
  const auto byte = [&](int at) -> std::uint32_t {
    return at < 0 ? 0U : static_cast<unsigned char>(sum[static_cast<std::size_t>(at)]);
  };
  std::uint32_t bits = byte(high) << 16U | byte(middle) << 8U | byte(low);
  for (; count > 0; --count, bits >>= 6U) text += kHashDigits[bits & 0x3fU];
}

}  // namespace

// One function, since the steps have no names in the algorithm's description either:
// https://www.akkadia.org/drepper/SHA-crypt.txt
std::string sha512_crypt(std::string_view password, std::string_view salt) {
  const std::string key(password);
  const std::string with_salt = key + std::string(salt);
  const std::string other = sha512(with_salt + key);
  std::string first = with_salt + repeated(other, key.size());
  for (std::size_t bits = key.size(); bits > 0; bits >>= 1U) first += (bits & 1U) != 0 ? other : key;
  std::string sum = sha512(first);
  std::string keys;
  for (std::size_t i = 0; i < key.size(); ++i) keys += key;
  const std::string key_part = repeated(sha512(keys), key.size());
  std::string salts;
  for (int i = 0; i < 16 + static_cast<unsigned char>(sum[0]); ++i) salts += salt;
  const std::string salt_part = repeated(sha512(salts), salt.size());
  for (int round = 0; round < kHashRounds; ++round) {
    const bool odd = round % 2 != 0;
    std::string text = odd ? key_part : sum;
    if (round % 3 != 0) text += salt_part;
    if (round % 7 != 0) text += key_part;
    text += odd ? sum : key_part;
    sum = sha512(text);
  }
  std::string digits;
  int high = 0;
  int middle = 21;
  int low = 42;
  for (int i = 0; i < 21; ++i) {
    add_digits(digits, sum, high, middle, low, 4);
    const int next = high;
    high = middle + 1;
    middle = low + 1;
    low = next + 1;
  }
  add_digits(digits, sum, -1, -1, 63, 2);
  return "$6$" + std::string(salt) + "$" + digits;
}

Result<std::string> hash_of_password(std::string_view password) {
  std::array<unsigned char, kSaltLength> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return Error{ErrorCode::io, "there are no random numbers for the password's hash", {}, {}, {}};
  std::string salt;
  for (const unsigned char byte : bytes) salt += kHashDigits[byte & 0x3fU];
  return sha512_crypt(password, salt);
}

Status check_password(std::string_view password, const std::string& from) {
  const bool printable = std::ranges::all_of(password, [](char c) { return c >= ' ' && c <= '~'; });
  if (!password.empty() && password.size() <= kLongestPassword && printable) return {};
  return Error{ErrorCode::invalid,
               "the one-time password is not one line of 1 to 256 printable ASCII characters",
               from,
               "choose one that can be typed on the console's keyboard while the machine boots",
               {}};
}

}  // namespace slipway::driver
