// SPDX-License-Identifier: Apache-2.0
#include "dcgm/names/exporter.hpp"

#include <cmath>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

namespace slipway::dcgm {

std::string value_text(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real) ? fmt::format("{:.6f}", *real) : "";
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

}  // namespace slipway::dcgm
