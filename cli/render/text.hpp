// SPDX-License-Identifier: Apache-2.0
// cli/render/text.hpp - the layout of results: wraps long lines, and combines many things of one kind in one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/engine.hpp"

namespace slipway::cli {

/// Returns the columns of a terminal; 0 when the descriptor is not a terminal, so that lines stay whole for programs.
/// SLIPWAY_COLUMNS overrides it in any case.
std::size_t columns_of(int descriptor);

/// Breaks lines that are longer, between words, and long paths after a slash. A command in backquotes is not broken, so
/// that it can be copied.
std::string wrapped(const std::string& text, std::size_t columns);

/// Returns a text of at most so many bytes: cuts a longer one between two words and adds "…". Does not cut a command in
/// backquotes: the text ends after it.
std::string cut_at_word(const std::string& text, std::size_t most);

/// "12.3 MiB".
std::string mebibytes(std::uint64_t bytes);

struct PlanLine {
  const core::PlannedItem* first;  ///< the first of its items; borrowed
  std::string text;
};

/// Combines links, device nodes and modules that follow each other in one folder, with the same reason and check
/// result: "link 40 names in /usr/lib/x86_64-linux-gnu: libcuda.so.1, … and 37 more".
///
/// @param each  gives each of them its own line
std::vector<PlanLine> plan_lines(const std::vector<core::PlannedItem>& items, bool each);

}  // namespace slipway::cli
