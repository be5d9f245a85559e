// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/label_value.hpp - the form of a label's key and value in Kubernetes, and the conversion of names
// to such values.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace slipway::gfd {

/// Sorted by key, so that the same labels always make the same file.
using Labels = std::map<std::string, std::string>;

inline constexpr std::size_t kMaxValue = 63;

/// Cleans a name as GPU Feature Discovery does: characters other than letters, digits, '-', '_', '.' and blanks are
/// dropped, runs of blanks become one '-'.
std::string sanitised(std::string_view text);

/// True for an empty value, or at most 63 characters of letters, digits, '-', '_' and '.', with a letter or digit at
/// both ends.
bool valid_value(std::string_view value);
/// True for "prefix/name": the prefix is a DNS subdomain, the name like a non-empty value.
bool valid_key(std::string_view key);

/// Makes a valid value of a product name and its suffixes ("-MIG-1g.10gb", "-SHARED"): shortens the name and keeps the
/// suffixes, because they distinguish products. @return a text for which valid_value() is true, unless the suffixes
/// alone are too long
std::string fitted(const std::string& name, const std::string& endings);

/// Removes labels that no node would accept. @return the removed keys
std::string drop_invalid(Labels& labels);

/// Returns the features.d form: one "key=value" line each.
std::string to_lines(const Labels& labels);

}  // namespace slipway::gfd
