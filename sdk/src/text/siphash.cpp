// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <slipway/looks.hpp>

namespace slipway {
namespace {

/// The state of the algorithm, named as in its paper.
struct Sip {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

/// Up to eight bytes, the first the least significant.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

std::uint64_t siphash(const LookKey& key, std::string_view bytes) {
  Sip sip{key[0] ^ 0x736f6d6570736575U, key[1] ^ 0x646f72616e646f6dU, key[0] ^ 0x6c7967656e657261U,
          key[1] ^ 0x7465646279746573U};
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) sip.take(little_endian(bytes.substr(0, 8)));
  sip.take(little_endian(bytes) | length << 56U);
  sip.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) sip.round();
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

}  // namespace slipway
