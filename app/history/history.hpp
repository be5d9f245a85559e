// SPDX-License-Identifier: Apache-2.0
// app/history/history.hpp - what was done on this machine: a line of JSON for each event, in files of bounded size.
//
// FOLDER/history.jsonl is the newest; when it is full it becomes history.jsonl.1, that history.jsonl.2, and so on.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

/// How much is kept.
struct HistoryLimits {
  std::size_t file_bytes = 1 << 20;                           ///< a file that has reached this gets no further line
  int files = 4;                                              ///< the newest included
  std::chrono::milliseconds wait = std::chrono::seconds(10);  ///< for who else writes
};

class History {
 public:
  explicit History(std::string folder, HistoryLimits limits = {}) : folder_(std::move(folder)), limits_(limits) {}

  /// Adds an event; makes the folder, for its owner and group alone. Several processes may do so at once.
  /// Errors: `locked`; `conflict` others may write to the folder; those of the file system.
  Status append(const Json& event) const;

  /// All events, oldest first. A line that was cut off is left out. Errors: `denied`, `io`; no file is not an error.
  Result<std::vector<Json>> read() const;

 private:
  Result<std::vector<Json>> read_once() const;
  std::string file(int age) const;
  Status make_room() const;
  std::string folder_;
  HistoryLimits limits_;
};

}  // namespace slipway::core
