// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/scalar.hpp - reads plain YAML scalars as numbers and booleans, strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipway::core {

/// A decimal integer that fits 64 bits: sign, then digits without a leading zero.
std::optional<std::int64_t> parse_integer(const std::string& text);

/// A finite decimal number with a point or an exponent.
std::optional<double> parse_decimal(const std::string& text);

/// "010": octal for YAML 1.1, ten for YAML 1.2.
bool has_leading_zero(const std::string& text);

/// What a word that is no boolean here was surely meant as: yes, no, on, off, and true and false in other letter case.
std::optional<bool> other_boolean(const std::string& text);

}  // namespace slipway::core
