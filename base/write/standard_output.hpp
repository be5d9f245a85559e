// SPDX-License-Identifier: Apache-2.0
// base/write/standard_output.hpp - how a program begins, and its results: written at once, and never lost
// without a word.
#pragma once

#include <string_view>

#include <slipway/result.hpp>

namespace slipway {

/// What each program of slipway does before anything else.
///
/// Opens what is closed of standard input, output and error, so that no other file gets their numbers. Writing to a
/// standard output that was closed stays an error.
///
/// Sets the one umask of slipway, 022, whoever starts it with whichever: what a plugin, a tool or a library writes by
/// the way is the same everywhere. Files that are not for everybody get their mode where they are made.
void begin_program();

/// Writes to standard output. The first failure is kept for standard_output_status(), and all that comes after it is
/// dropped, so that a pipe whose reader is gone ends no program midway. Several threads may write; a text stays whole.
void write_standard_output(std::string_view text);

/// What the exit status has to tell: everything was written, or why not.
Status standard_output_status();

}  // namespace slipway
