// SPDX-License-Identifier: Apache-2.0
#include "core/host/attributes.hpp"

namespace slipway::core {
namespace {

unsigned hex_digit(char digit) { return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

}  // namespace

Json to_json(const Attributes& attributes) {
  Json value = Json::object();
  for (const auto& [name, bytes] : attributes) {
    std::string hex;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      hex += "0123456789abcdef"[byte >> 4];
      hex += "0123456789abcdef"[byte & 15];
    }
    value[name] = hex;
  }
  return value;
}

Attributes attributes_from_json(const Json& value) {
  Attributes attributes;
  if (!value.is_object()) return attributes;
  for (const auto& [name, hex] : value.items()) {
    const auto text = hex.get<std::string>();
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      bytes += static_cast<char>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1]));
    attributes[name] = bytes;
  }
  return attributes;
}

}  // namespace slipway::core
