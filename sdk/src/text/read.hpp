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

/// Parses a text that is only a number; with base 16 the prefix "0x" is allowed. Nothing for a sign, other text or
/// overflow.
std::optional<std::uint64_t> number_from(std::string_view text, int base);

/// Returns a value of an os-release file without shell quotes and backslashes (os-release(5)).
std::string unquoted(std::string_view value);

/// Returns a member of an object; nullptr if not found, or `value` is not an object.
const Json* member(const Json& value, std::string_view name);

/// Returns the value at a dotted name: tries the whole name as a key first, then its parts from the longest down.
const Json* find_by_dotted_name(const Json& value, std::string_view name);

std::string text_or_empty(const Json* value);
bool true_or_false(const Json* value);
std::vector<std::string> texts_or_none(const Json* value);
Json value_or_null(const Json* value);

/// Describes a value's type, for messages: "a string", "a number", "true or false", "a list", "an object", "nothing".
std::string_view type_in_words(const Json& value);

inline std::string text_at(const Json& value, std::string_view name) { return text_or_empty(member(value, name)); }
inline bool flag_at(const Json& value, std::string_view name) { return true_or_false(member(value, name)); }

}  // namespace slipway::detail
