// SPDX-License-Identifier: Apache-2.0
// sdk/write/slipway/write/standard_output.hpp - a program's results: written at once, and never lost without a word.
#pragma once

#include <string_view>

#include <slipway/result.hpp>

namespace slipway {

/// Opens what is closed of standard input, output and error, so that no other file gets their numbers. Writing to a
/// standard output that was closed stays an error. To be called before anything else is opened.
void hold_standard_streams();

/// Writes to standard output. The first failure is kept for standard_output_status(), and all that comes after it is
/// dropped, so that a pipe whose reader is gone ends no program midway. Several threads may write; a text stays whole.
void write_standard_output(std::string_view text);

/// What the exit status has to tell: everything was written, or why not.
Status standard_output_status();

}  // namespace slipway
