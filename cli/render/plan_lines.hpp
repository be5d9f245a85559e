// SPDX-License-Identifier: Apache-2.0
// cli/render/plan_lines.hpp - what the lines of a plan say: many things of a kind and of one folder are one line.
#pragma once

#include <string>
#include <vector>

#include "core/engine/plan/planned.hpp"

namespace slipway::core {

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
