// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/transaction.hpp - changes one component, completely or not at all: stage, switch, activate, check.
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

/// Carries out one planned component. Writes the previous state to the journal before the first change. When any step
/// fails, the check included, it restores all of it.
class Transaction {
 public:
  Transaction(Session& session, Journal& journal, PlannedComponent& planned, int order,
              std::map<std::string, Json> sources);

  /// @param applied  the applied entry of the component once this is done; null when the component is removed
  /// @return the result of the last custom action: `waiting` and `reboot_required` are not errors.
  /// Errors: the first failure; `details` lists what could not be restored.
  Result<Outcome> run(const Json& applied);

 private:
  Status intend();
  Result<std::set<std::string>> find_made_folders();
  Result<Image> capture(const PlannedItem& item, const std::set<std::string>& made);
  Status capture_products(const std::vector<Trigger>& triggers, const std::set<std::string>& made);
  Result<Outcome> admit();
  Status stage();
  Status make_way();
  Result<Outcome> leave_as_it_is();
  Result<bool> keeps_an_edit(PlannedItem& item, const Image& image);
  void keep(PlannedItem& item);
  Result<std::vector<Trigger>> made_needless(const PlannedItem& item) const;
  Status perform(ActionKind::Phase phase, bool late = false);
  Status take_away();
  Status run_before_activation();
  Status activate_remaining(bool late);
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
  /// True when the rest of the activation waits for a reboot, or for a process to release the device.
  bool is_put_off() const;
  ActionContext context(const PlannedItem& item);
  std::vector<Trigger> pending_triggers() const;

  Session& session_;
  Journal& journal_;
  PlannedComponent& planned_;
  int order_;
  ComponentLayers layers_;
  std::vector<PlannedItem*> changing_;       ///< in the order of the steps
  std::vector<Step> steps_;                  ///< one step for each element of changing_
  std::vector<std::string> pending_before_;  ///< triggers that were pending already when this began
  std::string in_force_;   ///< the generation active before: a rollback to it brings replaced edits back
  std::set<Trigger> ran_;  ///< triggers that ran, or were tried, before the end
  Outcome outcome_ = Outcome::done();
};

/// Returns the folders that slipway made for the things that it owns now, and for the products of triggers.
std::set<std::string> made_folders(const std::map<std::string, Ownership>& owned,
                                   const std::map<std::string, Product>& products);

/// Handles a new thing in a folder that an earlier apply made: removing the thing also removes that folder once it is
/// empty.
/// @param image  the image that the item's kind captured; images of paths other than "absent" stay as they are
void add_made_parents(Image& image, const PlannedItem& item, const std::set<std::string>& made);
/// The same for a single path.
void add_made_parents(Image& image, const std::string& path, const std::set<std::string>& made);

}  // namespace slipway::core
