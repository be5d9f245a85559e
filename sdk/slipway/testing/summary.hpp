// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/summary.hpp - a short form of a plan, to compare in a test.
#pragma once

#include <string>

#include <slipway/plan.hpp>

namespace slipway::testing {

/// One line per action, "KIND TARGET"; a line "note: …" per note.
inline std::string summary(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions()) text += action.kind() + " " + action.target() + "\n";
  for (const std::string& note : plan.notes()) text += "note: " + note + "\n";
  return text;
}

}  // namespace slipway::testing
