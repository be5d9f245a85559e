// SPDX-License-Identifier: Apache-2.0
// app/history/history.hpp - the log of this machine's applies: a line of JSON for each event, in files of limited size.
//
// FOLDER/history.jsonl is the newest file; when it is full it becomes history.jsonl.1, that one history.jsonl.2, and so
// on.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::app {

/// The limits of the log's size.
struct HistoryLimits {
  std::size_t file_bytes = 1 << 20;                           ///< a file of at least this size gets no further line
  int files = 4;                                              ///< including the newest
  std::chrono::milliseconds wait = std::chrono::seconds(10);  ///< the longest wait for another writer
};

class History {
 public:
  explicit History(std::string folder, HistoryLimits limits = {}) : folder_(std::move(folder)), limits_(limits) {}

  /// Adds an event; creates the folder for its owner and group only. Several processes may do this at once.
  /// Errors: `locked`; `conflict` other users may write to the folder; those of the file system.
  Status append(const Json& event) const;

  /// Returns all events, oldest first. Skips incomplete lines. Errors: `denied`, `io`; a missing file is not an error.
  Result<std::vector<Json>> read() const;

 private:
  Result<std::vector<Json>> read_once() const;
  std::string file(int age) const;
  Status make_room() const;
  std::string folder_;
  HistoryLimits limits_;
};

}  // namespace slipway::app
