// SPDX-License-Identifier: Apache-2.0
// cli/render/text.hpp - how results are laid out for people: long lines are wrapped, many things of a kind are one
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// Columns of the terminal that a descriptor is; 0: it is none, so lines stay whole, for programs that read them.
/// SLIPWAY_COLUMNS says it for anything.
std::size_t columns_of(int descriptor);

/// Breaks lines that are longer, between words, and long paths behind a slash. A command in backquotes stays whole, so
/// that it can be copied.
std::string wrapped(const std::string& text, std::size_t columns);

/// A text of at most so many bytes: one that is longer is cut between two words, and ends with "…". A command in
/// backquotes is not cut: the text ends behind it.
std::string cut_at_word(const std::string& text, std::size_t most);

/// "12.3 MiB".
std::string mebibytes(std::uint64_t bytes);

struct PlanLine {
  const PlannedItem* first;  ///< of those it is about; borrowed from the items
  std::string text;
};

/// Links, device nodes and modules that follow each other in one folder, for one reason and of one standing, are told
/// together: "link 40 names in /usr/lib/x86_64-linux-gnu: libcuda.so.1, … and 37 more".
///
/// @param each  a line for each of them all the same
std::vector<PlanLine> plan_lines(const std::vector<PlannedItem>& items, bool each);

}  // namespace slipway::core
