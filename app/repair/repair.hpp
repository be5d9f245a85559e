// SPDX-License-Identifier: Apache-2.0
// app/repair/repair.hpp - files of a root's state that cannot be read: they are named, set aside, and made up for by
// what the others say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

struct Repair {
  std::string name;                      ///< in the state folder: "components/driver.json"
  std::string problem;                   ///< what is wrong with it
  std::string aside;                     ///< where it goes; empty: it is gone already
  std::string outcome;                   ///< what takes its place, and what is lost
  bool damaged = true;                   ///< else it is an original that nobody can name any more
  std::optional<std::string> text = {};  ///< the content that takes its place
  std::vector<Ownership> records = {};   ///< an original's: as they are without it

  std::string path() const { return std::string(kStateDir) + "/" + name; }
};

/// What is to be repaired, in the order in which that can be cut off anywhere and begun again; empty: nothing. Changes
/// nothing in the root; the session goes around what is damaged from here on. Errors: those of StateDir::damage().
Result<std::vector<Repair>> find_repairs(Session& session);

/// Carries them out. For the holder of the root's lock, who has just found them.
Status carry_out(Session& session, const std::vector<Repair>& repairs);

/// A failed finding `slipway.state` for each file that is damaged.
Status add_damage(Session& session, std::map<std::string, Findings>& findings);

}  // namespace slipway::core
