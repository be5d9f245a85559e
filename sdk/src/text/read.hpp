// SPDX-License-Identifier: Apache-2.0
// sdk/src/text/read.hpp - reads the small texts of sysfs, procfs and /etc, and members of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>

namespace slipway::detail {

/// A number that is the whole text; "0x" may come first with base 16. Nothing for a sign, rest or overflow.
std::optional<std::uint64_t> number_from(std::string_view text, int base);

/// A value of an os-release file: shell quotes and backslashes taken out (os-release(5)).
std::string unquoted(std::string_view value);

/// A member of an object; nullptr when there is none, or `value` is not an object.
const Json* member(const Json& value, std::string_view name);

/// The value at a dotted name: the whole name as a key first, then its parts from the longest, going down.
const Json* find_dotted(const Json& value, std::string_view name);

std::string text_or_empty(const Json* value);
bool true_or_false(const Json* value);
std::vector<std::string> texts_or_none(const Json* value);
Json value_or_null(const Json* value);

/// What a value is, for messages: "a text", "a number", "true or false", "a list", "an object", "nothing".
std::string_view type_in_words(const Json& value);

inline std::string text_at(const Json& value, std::string_view name) { return text_or_empty(member(value, name)); }
inline bool flag_at(const Json& value, std::string_view name) { return true_or_false(member(value, name)); }

}  // namespace slipway::detail
