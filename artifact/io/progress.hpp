// SPDX-License-Identifier: Apache-2.0
// artifact/io/progress.hpp - how operations report their progress and their warnings.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace slipway::artifact {

/// Receives messages. Both functions may be called from several threads at once; an empty one is not called.
struct Reporter {
  std::function<void(const std::string& level, const std::string& text)> log;  ///< level: "debug", "info", "warning"
  std::function<void(const std::string& label, std::uint64_t done, std::uint64_t total)> progress;

  void warn(const std::string& text) const {
    if (log) log("warning", text);
  }
};

/// Counts bytes and reports them, at most ten times a second, and once more at the end. Thread-safe.
class Progress {
 public:
  /// @param total  bytes to expect; 0 when unknown. The reporter must outlive this object.
  Progress(const Reporter& reporter, std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::uint64_t bytes);
  /// Subtracts bytes that have to be transferred again.
  void take_back(std::uint64_t bytes) { done_ -= bytes; }
  /// All bytes are counted, whatever total was expected: the last report has their number as the total.
  void finish() { finished_ = true; }
  std::uint64_t done() const { return done_; }

 private:
  const Reporter& reporter_;
  std::string label_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_ = 0;
  bool finished_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace slipway::artifact
