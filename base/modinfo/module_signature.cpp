// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/modinfo/module_info.hpp"

namespace slipway::base {
namespace {

constexpr std::string_view kMagic = "~Module signature appended~\n";
constexpr std::size_t kTrailer = 12;              // struct module_signature
constexpr std::size_t kKindField = 2;             // its id_type
constexpr std::size_t kSizeField = 8;             // its sig_len, four bytes, the highest first
constexpr std::uint8_t kPkcs7 = 2;                // the only kind since Linux 4.3
constexpr std::size_t kMostSignature = 64 << 10;  // a message with RSA-4096 has 700 bytes

Error broken_signature(const char* why) { return Error{.code = ErrorCode::corrupt, .what = why}; }

}  // namespace

Result<std::optional<std::string_view>> module_signature_of(std::string_view bytes) {
  if (!bytes.ends_with(kMagic)) return std::optional<std::string_view>{};
  bytes.remove_suffix(kMagic.size());
  if (bytes.size() < kTrailer) return broken_signature("its signature is cut off");
  const std::string_view trailer = bytes.substr(bytes.size() - kTrailer);
  bytes.remove_suffix(kTrailer);
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(trailer[at]); };
  if (byte(kKindField) != kPkcs7) return broken_signature("its signature is not a PKCS#7 message");
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size = size << 8U | byte(kSizeField + i);
  if (size == 0 || size > kMostSignature || size > bytes.size())
    return broken_signature("its signature is cut off, or too large");
  return std::optional<std::string_view>{bytes.substr(bytes.size() - size)};
}

}  // namespace slipway::base
