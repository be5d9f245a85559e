// SPDX-License-Identifier: Apache-2.0
// base/kernels/kernel_log.hpp - distinguishes the kernel's own log records from those of programs.
#pragma once

#include <optional>
#include <string_view>

namespace slipway::base {

/// Returns the text of a line of /dev/kmsg ("6,339,5140900,-;text"), a view into it, with non-printable bytes escaped
/// by the kernel. Nothing for a line about a record's device (" SUBSYSTEM=net"), for a record written by a program,
/// whose facility is not the kernel's 0, and when names_a_program() is true.
std::optional<std::string_view> kernel_message(std::string_view line);

/// True for "python3[4711]: segfault at 0 … in FILE": such messages contain the name of a program (at most 15 bytes),
/// its number, and file names, all of which any user can choose.
bool names_a_program(std::string_view message);

}  // namespace slipway::base
