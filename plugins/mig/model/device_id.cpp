// SPDX-License-Identifier: Apache-2.0
#include "mig/model/device_id.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace slipway::mig {
namespace {

std::optional<std::uint32_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    const bool is_plain_octal = kind >= '0' && kind <= '9';
    text.remove_prefix(is_plain_octal ? 1 : 2);
    if (base == 8 && !is_plain_octal && kind != 'o' && kind != 'O') return std::nullopt;
  }
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string hexadecimal(std::uint32_t number) { return fmt::format("0x{:08X}", number); }

constexpr std::uint32_t kVendor = 0x10DE;
constexpr std::uint32_t kLowHalf = 0xFFFF;

Error not_of_nvidia(const std::string& text, std::uint32_t chip, const std::string& where) {
  constexpr std::size_t kDigits = 4;  // "2330" was meant as a hexadecimal number
  const auto plain = text.size() <= kDigits ? parse_number("0x" + text) : std::nullopt;
  const std::uint32_t device = chip >> 16U == kVendor ? chip & kLowHalf : plain.value_or(chip);
  const bool is_guess = device <= kLowHalf;
  return Error{.code = ErrorCode::invalid,
               .what = "the device filter '" + text + "' matches no GPU: its last four digits are not NVIDIA's 10DE",
               .where = where,
               .next = is_guess ? "write the device before the vendor: \"" + hexadecimal(device << 16U | kVendor) + "\""
                                : "`slipway mig export` shows the ids of this machine's GPUs",
               .details = {}};
}

}  // namespace

std::string DeviceId::chip_text() const { return hexadecimal(chip); }

std::string DeviceId::text() const { return board ? chip_text() + ":" + hexadecimal(*board) : chip_text(); }

// Upstream turns an invalid id into one that no GPU has, so that a typing error makes an entry ineffective.
Result<DeviceId> parse_device_id(const std::string& text, const std::string& where) {
  const std::size_t colon = text.find(':');
  const auto chip = parse_number(std::string_view(text).substr(0, colon));
  const auto board = colon == std::string::npos ? std::nullopt : parse_number(std::string_view(text).substr(colon + 1));
  const bool is_read = chip && (board || colon == std::string::npos);
  if (is_read && (*chip & kLowHalf) != kVendor) return not_of_nvidia(text, *chip, where);
  if (is_read) return DeviceId{.chip = *chip, .board = board};
  return Error{.code = ErrorCode::invalid,
               .what = "'" + text + "' is not a device id",
               .where = where,
               .next =
                   "write device and vendor as one number (0x233010DE), followed by a colon and the board's number "
                   "if the board matters; `slipway mig export` shows the ids of this machine's GPUs"};
}

}  // namespace slipway::mig
