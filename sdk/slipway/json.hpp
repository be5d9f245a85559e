// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/json.hpp - the one JSON type of slipway and its canonical text form.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace slipway {

/// A JSON value. Objects keep their keys sorted (std::map), so equal values always print equally.
using Json = nlohmann::json;

/// The canonical text: no white space, keys sorted, invalid UTF-8 replaced by U+FFFD. Equal values give equal bytes.
inline std::string canonical(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The canonical text for files that people read: two spaces of indentation and a final newline.
inline std::string pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipway
