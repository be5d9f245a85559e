// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/label_value.hpp - what Kubernetes takes for a label's key and value, and how names become such
// values.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace slipway::gfd {

/// Sorted by key, so that the same labels always make the same file.
using Labels = std::map<std::string, std::string>;

inline constexpr std::size_t kMaxValue = 63;

/// As GPU Feature Discovery does with names: characters other than letters, digits, '-', '_', '.' and blanks are
/// dropped, runs of blanks become one '-'.
std::string sanitised(std::string_view text);

/// Empty, or at most 63 characters of letters, digits, '-', '_' and '.', with a letter or digit at both ends.
bool valid_value(std::string_view value);
/// "prefix/name": the prefix a DNS subdomain, the name like a value that is not empty.
bool valid_key(std::string_view key);

/// A product name with its endings ("-MIG-1g.10gb", "-SHARED"), made valid: the name in front is cut so that the
/// endings stay, since they tell products apart. @return what valid_value() takes, unless the endings alone are too
/// long
std::string fitted(const std::string& name, const std::string& endings);

/// Takes out what no node would accept. @return the keys that were taken out
std::string drop_invalid(Labels& labels);

/// The features.d form: one "key=value" line each.
std::string to_lines(const Labels& labels);

}  // namespace slipway::gfd
