// SPDX-License-Identifier: Apache-2.0
// app/repair/repair.hpp - finds unreadable files of a root's state, sets them aside, and reconstructs what the other
// files allow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"

namespace slipway::app {

struct Repair {
  std::string name;                           ///< in the state folder: "components/driver.json"
  std::string problem;                        ///< the reason why it is damaged
  std::string aside;                          ///< its new path; empty: the file is already missing
  std::string outcome;                        ///< what replaces it, and what is lost
  bool damaged = true;                        ///< false: an original whose owner is unknown
  std::optional<std::string> text = {};       ///< the content that replaces it
  std::vector<core::Ownership> records = {};  ///< for an original: the records without it

  std::string path() const { return std::string(core::kStateDir) + "/" + name; }
};

/// Returns the repairs, in an order that may be interrupted at any point and started again; empty when there are none.
/// Changes nothing in the root; from here on the session skips damaged files. Errors: those of StateDir::damage().
Result<std::vector<Repair>> find_repairs(core::Session& session);

/// Carries out the repairs. For the holder of the root's lock, directly after finding them.
Status carry_out(core::Session& session, const std::vector<Repair>& repairs);

/// Adds a failed finding `slipway.state` for each damaged file.
Status add_damage(core::Session& session, std::map<std::string, Findings>& findings);

}  // namespace slipway::app
