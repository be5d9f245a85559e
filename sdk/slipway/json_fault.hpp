// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/json_fault.hpp - why a text is not JSON that can be read, and where: for messages about users' files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

struct JsonFault {
  std::size_t offset_bytes = 0;  ///< of the first byte that is wrong
  std::string why;
};

/// Finds also what Json::parse() throws other errors than parse_error for: a number that no double holds, a nesting
/// that would overflow the stack (kMaxJsonDepth). Nothing: Json::parse() takes the text.
std::optional<JsonFault> find_json_fault(std::string_view text);

}  // namespace slipway
