// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/json.hpp - the one JSON type of slipway and its canonical text form.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace slipway {

/// A JSON value. Objects keep their keys sorted (std::map), so equal values always print equally.
using Json = nlohmann::json;

/// Objects and lists in each other, at most, in JSON that others may have written: printing or copying deeper ones
/// would overflow the stack.
inline constexpr std::size_t kMaxJsonDepth = 200;
bool nests_too_deep(std::string_view text);

/// JSON that others may have written. Discarded (is_discarded()) when the text is none, or nests too deep.
Json parse_foreign(std::string_view text);

/// The canonical text: no white space, keys sorted, invalid UTF-8 replaced by U+FFFD. Equal values give equal bytes.
inline std::string canonical(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The canonical text for files that people read: two spaces of indentation and a final newline.
inline std::string pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipway
