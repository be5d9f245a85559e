// SPDX-License-Identifier: Apache-2.0
// base/kernels/kernel_log.hpp - which records of the kernel's log are the kernel's own.
#pragma once

#include <optional>
#include <string_view>

namespace slipway {

/// The text of a line of /dev/kmsg ("6,339,5140900,-;text"), a view into it, non-printable bytes as the kernel escapes
/// them. Nothing when the line is of a record's device (" SUBSYSTEM=net"), when a program wrote the record there, which
/// has another facility than the kernel's 0, and when names_a_program() holds.
std::optional<std::string_view> kernel_message(std::string_view line);

/// "python3[4711]: segfault at 0 … in FILE": the kernel puts the name of a program (15 bytes at most), its number, and
/// names of files there, all of which are anybody's choice.
bool names_a_program(std::string_view message);

}  // namespace slipway
