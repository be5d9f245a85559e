// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/json.hpp - the JSON type of slipway and its canonical text form.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace slipway {

/// A JSON value. Objects keep their keys sorted (std::map), so equal values always print equally.
using Json = nlohmann::json;

/// The maximum nesting of objects and lists in untrusted JSON: printing or copying deeper values would overflow the
/// stack.
inline constexpr std::size_t kMaxJsonDepth = 200;
bool nests_too_deep(std::string_view text);

/// Parses untrusted JSON. Returns a discarded value (is_discarded()) when the text is not JSON, or nests too deep.
Json parse_foreign(std::string_view text);

/// Returns the canonical text: no white space, keys sorted, invalid UTF-8 replaced by U+FFFD. Equal values give equal
/// bytes.
inline std::string canonical(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns the text for files that people read: two spaces of indentation and a final newline.
inline std::string pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipway
