// SPDX-License-Identifier: Apache-2.0
// base/write/standard_output.hpp - the start of a program, and the output of its results: written at once,
// with write errors reported.
#pragma once

#include <string_view>

#include <slipway/result.hpp>

namespace slipway::base {

/// Does what each program of slipway has to do before anything else.
///
/// Opens standard input, output and error if they are closed, so that no other file gets their numbers. Writing to a
/// standard output that was closed is still an error.
///
/// Sets slipway's umask, 022, independent of the caller's: files that a plugin, a tool or a library writes have the
/// same mode everywhere. Files with a stricter mode get it when they are created.
void begin_program();

/// Writes to standard output. Keeps the first failure for standard_output_status(), and drops all later output, so that
/// a closed pipe does not end a program midway. Several threads may write; each text stays whole.
void write_standard_output(std::string_view text);

/// Returns the error of writing, for the exit status.
Status standard_output_status();

}  // namespace slipway::base
