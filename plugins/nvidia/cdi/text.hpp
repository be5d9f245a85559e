// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/text.hpp - CDI specs as text: read, checked against the rules of the specification, written as
// NVIDIA's own generator does.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::nvidia::cdi {

/// The largest text that is read: about ten times the size of the spec of sixteen GPUs with all their MIG devices.
inline constexpr std::size_t kMaxSpecBytes = 16U << 20U;

/// Parses a spec without checking the rules of validate().
/// @param where  file name for messages
/// Errors: `invalid` with WHERE:LINE:COLUMN: invalid YAML, an unknown or repeated member, a value of another type, more
/// than one document.
Result<Spec> parse(std::string_view text, const std::string& where);

/// Calls parse(), then validate().
Result<Spec> parse_and_validate(std::string_view text, const std::string& where);

/// True for a text that starts with a letter, ends with a letter or digit, and has only those, '_', '-' and '.'
/// between.
bool is_vendor_or_class(std::string_view text);
/// True for a text that starts and ends with a letter or digit, and has only those, '_', '-', '.' and ':' between.
bool is_device_name(std::string_view text);

/// Checks all rules for a spec. @param where  file name for messages, may be empty Errors: `invalid`; the first broken
/// rule with the member that breaks it ("devices[2].containerEdits.env[0]"), the others as details "also".
Status validate(const Spec& spec, const std::string& where);

/// Writes a line "---", indents four spaces per level, and indents lists too.
std::string to_yaml(const Spec& spec);
/// Compact, without a final newline.
std::string to_json_text(const Spec& spec);

/// True when a YAML 1.1 or 1.2 reader takes the plain scalar for something other than a text: number (base 60 too),
/// boolean, null, time stamp, merge key.
bool reads_as_other_than_text(std::string_view scalar);

/// Returns the text as a scalar in block context: plain if that is allowed, else quoted.
std::string yaml_text(std::string_view text);

}  // namespace slipway::nvidia::cdi
