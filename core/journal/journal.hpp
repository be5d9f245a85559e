// SPDX-License-Identifier: Apache-2.0
// core/journal/journal.hpp - the write-ahead journal of a running apply: the state before each change.
//
// An SQLite file with synchronous=FULL: once intend() has returned, a crash at any later instruction leaves enough data
// to restore every path of the component. The file exists only while an apply runs or after one was interrupted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "core/journal/records.hpp"

namespace slipway::core {

/// One intended change.
struct Step {
  std::int64_t id = 0;  ///< assigned by the journal, ascending
  std::string component;
  Action action{Json::object()};  ///< the action to do; for a removal the action to undo
  Image image;                    ///< the state before: restoring it undoes the step
  bool removal = false;
  bool done = false;
};

class Journal {
 public:
  virtual ~Journal() = default;

  /// Writes all steps of one component and the triggers that they need, in one transaction, before the first step.
  virtual Status intend(std::vector<Step>& steps, const std::vector<std::string>& triggers) = 0;
  /// Records that the step was carried out.
  virtual Status done(std::int64_t step) = 0;
  /// Records that the component is complete. In one transaction, drops its steps and keeps its new ownership until
  /// written() says that the state folder has it.
  /// @param applied  its applied entry, kept until the generation has it; null: the component was removed
  virtual Status commit(const Ownership& owned, const Json& applied) = 0;
  /// Drops the component's steps, which were undone.
  virtual Status drop(const std::string& component) = 0;
  /// Records that the state folder has the ownership of a committed component.
  virtual Status written(const std::string& component) = 0;
  /// Returns committed ownerships that are not in the state folder yet.
  virtual Result<std::vector<Ownership>> unwritten() = 0;
  /// Returns by component the committed applied entries that are in no generation yet; null for removed components.
  virtual Result<std::map<std::string, Json>> applied() = 0;
  /// Records that a generation has all of those entries.
  virtual Status recorded() = 0;
  /// Returns the uncommitted steps of a running or interrupted apply, newest first.
  virtual Result<std::vector<Step>> open_steps() = 0;

  /// Pending triggers, in the order in which they were first named.
  virtual Result<std::vector<std::string>> pending() = 0;
  virtual Status done(const std::string& trigger) = 0;

  /// Ends the apply: deletes the file.
  virtual Status finish() = 0;
};

/// Opens or creates the journal at `path`. Errors: `corrupt` when it is not a journal of slipway, `no_space`, `io`.
Result<std::unique_ptr<Journal>> open_journal(const std::string& path);
/// Opens an existing journal for reading. Does not initialize an empty one; returns null for it.
Result<std::unique_ptr<Journal>> look_at_journal(const std::string& path);

}  // namespace slipway::core
