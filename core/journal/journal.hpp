// SPDX-License-Identifier: Apache-2.0
// core/journal/journal.hpp - the write-ahead journal of the apply under way: what was there before each change.
//
// An SQLite file with synchronous=FULL: once intend() has returned, a crash at any later instruction leaves enough to
// bring every path of the component back. The file exists only while an apply is under way or was cut off.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "core/journal/records.hpp"

namespace slipway::core {

/// One change, as it was intended.
struct Step {
  std::int64_t id = 0;  ///< given by the journal, ascending
  std::string component;
  Action action{Json::object()};  ///< what was to be done; for a removal what is undone
  Image image;                    ///< what was there before: restoring it undoes the step
  bool removal = false;
  bool done = false;
};

class Journal {
 public:
  virtual ~Journal() = default;

  /// Writes all steps of one component and the triggers that they need, in one transaction, before the first of them.
  virtual Status intend(std::vector<Step>& steps, const std::vector<std::string>& triggers) = 0;
  /// The step was carried out.
  virtual Status done(std::int64_t step) = 0;
  /// The component is complete: its steps are dropped, and what it owns from now on is kept until written() says that
  /// the state folder has it, in one transaction.
  /// @param applied  what it is applied as, kept until the generation has it; null: it was removed
  virtual Status commit(const Ownership& owned, const Json& applied) = 0;
  /// Its steps were undone, and are dropped.
  virtual Status drop(const std::string& component) = 0;
  /// The ownership of a committed component is in the state folder.
  virtual Status written(const std::string& component) = 0;
  /// Committed ownerships that did not make it to the state folder.
  virtual Result<std::vector<Ownership>> unwritten() = 0;
  /// By component: what was committed as applied, null for what was removed, and is in no generation yet.
  virtual Result<std::map<std::string, Json>> applied() = 0;
  /// A generation has all of that.
  virtual Status recorded() = 0;
  /// What a cut-off or running apply has not committed, newest first.
  virtual Result<std::vector<Step>> open_steps() = 0;

  /// Pending triggers, in the order in which they were first named.
  virtual Result<std::vector<std::string>> pending() = 0;
  virtual Status done(const std::string& trigger) = 0;

  /// The apply is over: the file goes away.
  virtual Status finish() = 0;
};

/// Opens or creates the journal at `path`. Errors: `corrupt` when it is not a journal of ours, `no_space`, `io`.
Result<std::unique_ptr<Journal>> open_journal(const std::string& path);
/// The same to look at one that is there: nothing is made of an empty one, which is null.
Result<std::unique_ptr<Journal>> look_at_journal(const std::string& path);

}  // namespace slipway::core
