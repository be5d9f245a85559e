// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/transaction.hpp - the changes of one component, all of them or none: stage, switch, activate,
// check.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"
#include "core/journal/state_dir.hpp"

namespace slipway::core {

/// Carries out one planned component. Before the first change the journal has what was there; when anything fails up to
/// and including the check, all of it is brought back.
class Transaction {
 public:
  Transaction(Session& session, Journal& journal, PlannedComponent& planned, int order,
              std::map<std::string, Json> sources);

  /// @param applied  what the component is applied as once this is done; null when it leaves
  /// @return how the last custom action ended: `waiting` and `reboot_required` are no errors.
  /// Errors: the first one met; `details` says what could not be brought back, if anything.
  Result<Outcome> run(const Json& applied);

 private:
  Status intend();
  Status capture_products(const std::vector<Trigger>& triggers);
  Status stage();
  Result<bool> keeps_an_edit(PlannedItem& item, const Image& image);
  void keep(PlannedItem& item);
  Result<std::vector<Trigger>> made_needless(const PlannedItem& item) const;
  Status perform(ActionKind::Phase phase, bool late = false);
  Status take_away();
  Status run_before_activation();
  Status activate_the_rest(bool late);
  std::vector<Trigger> restarts_before(const PlannedItem& item) const;
  Status run_restarts();
  Status activate();
  Status check_all();
  Result<Ownership> ownership();
  Result<Ownership> commit(const Json& applied);
  Status write_down(const Ownership& owned);
  Error undo(Error cause);
  void restore_all(Error& cause);
  Status restore_one(const PlannedItem& item, const Image& image, Error& cause);
  void settle_triggers(Error& cause);
  void reinstate_all(Error& cause);
  /// The rest of the activation waits: for a reboot, or for somebody to release the device.
  bool is_put_off() const;
  ActionContext context(const PlannedItem& item);
  std::vector<Trigger> pending_triggers() const;

  Session& session_;
  Journal& journal_;
  PlannedComponent& planned_;
  int order_;
  ComponentLayers layers_;
  std::vector<PlannedItem*> changing_;       ///< in the order of the steps
  std::vector<Step> steps_;                  ///< one for each of changing_
  std::vector<std::string> pending_before_;  ///< triggers that were pending already when this began
  std::string in_force_;                     ///< the generation before, to whose rollback replaced edits come back
  std::set<Trigger> ran_;                    ///< triggers that have run, or were tried, before the end
  Outcome outcome_ = Outcome::done();
};

/// The folders that slipway made for what it owns now.
std::set<std::string> made_folders(const std::map<std::string, Ownership>& owned);

/// Something new in a folder that an earlier apply made: that folder goes with it as well, once it is empty.
/// @param image  what the item's kind captured; images of paths other than "absent" stay as they are
void add_made_parents(Image& image, const PlannedItem& item, const std::set<std::string>& made);

}  // namespace slipway::core
