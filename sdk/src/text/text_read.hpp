// SPDX-License-Identifier: Apache-2.0
// sdk/src/text/text_read.hpp - reads the small texts of sysfs, procfs and /etc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::detail {

/// Without white space at both ends.
std::string_view trimmed(std::string_view text);

/// The lines of a text without their ends; views into it.
std::vector<std::string_view> lines(std::string_view text);

/// A number that is the whole text; "0x" may come first with base 16. Nothing for a sign, rest or overflow.
std::optional<std::uint64_t> number_from(std::string_view text, int base);

/// A value of an os-release file: shell quotes and backslashes taken out (os-release(5)).
std::string unquoted(std::string_view value);

}  // namespace slipway::detail
