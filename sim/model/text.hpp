// SPDX-License-Identifier: Apache-2.0
// sim/model/text.hpp - text in the fixed places of a simulated machine's file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace slipway::core {

/// As much of the text as there is place for, and a zero.
template <std::size_t size>
void set_text(char (&place)[size], const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

}  // namespace slipway::core
