// SPDX-License-Identifier: Apache-2.0
#include "dcgm/names/family.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace slipway::dcgm {

std::string plain_number(double value) {
  constexpr double kWhole = 9e15;  // a double represents whole numbers up to here exactly
  if (!std::isfinite(value)) return {};
  if (value == std::floor(value) && std::abs(value) < kWhole) return std::to_string(static_cast<std::int64_t>(value));
  return fmt::format("{:.9g}", value);
}

const Value* value_of(const Counters& counters, const Entity& entity, unsigned field) {
  const auto at = std::ranges::lower_bound(counters.series, field, {},
                                           [](const Counter& counter) { return counter.field->number; });
  if (at == counters.series.end() || at->field->number != field) return nullptr;
  return &entity.series[static_cast<std::size_t>(at - counters.series.begin())];
}

std::string scaled_text(const Counters& counters, const Entity& entity, unsigned field, double factor) {
  const Value* const value = value_of(counters, entity, field);
  if (value == nullptr) return {};
  if (const auto* whole = std::get_if<std::int64_t>(value))
    return factor == 1 ? std::to_string(*whole) : plain_number(static_cast<double>(*whole) * factor);
  const auto* real = std::get_if<double>(value);
  return real == nullptr ? std::string() : plain_number(*real * factor);
}

}  // namespace slipway::dcgm
