// SPDX-License-Identifier: Apache-2.0
// core/engine/ui.hpp - what the engine tells the person or program that watches it. Results go another way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace slipway::core {

/// What a line is about.
struct Subject {
  // From a component alone, since that is all that most lines know. NOLINTBEGIN(google-explicit-constructor)
  Subject(const char* of) : component(of) {}
  Subject(std::string of, std::string during = {}) : component(std::move(of)), phase(std::move(during)) {}
  // NOLINTEND(google-explicit-constructor)
  std::string component;  ///< empty: slipway itself
  std::string phase;  ///< "detect", "switch", …: an operation of the worker, or a part of an apply; empty: neither
};

/// How far one named step is.
struct Progress {
  enum class Unit { bytes, files };
  std::string label;  ///< "download x"; behind a ": " the part that is being worked on now
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 while it is not known; done == total ends the step
  Unit unit = Unit::bytes;
};

/// Called from several threads, one call at a time is not guaranteed: implementations lock.
class Ui {
 public:
  virtual ~Ui() = default;
  enum class Level { debug, info, warning };
  virtual void log(Level level, const Subject& about, const std::string& text) = 0;
  virtual void progress(const std::string& component, const Progress& progress) = 0;
  /// A step of an apply begins: "install", "switch", "load", …, with what it is about.
  virtual void step(const Subject& about, const std::string& text) = 0;
  /// What a command that only looks is at, for who waits at a terminal; empty: it is over.
  virtual void looking(const std::string& text) { (void)text; }
  /// @param watcher  gets a line, now and then, on what is being done; borrows what it likes until it is taken back
  ///                 with an empty one
  virtual void set_watcher(const std::function<void(const std::string& line)>& watcher) { (void)watcher; }
};

}  // namespace slipway::core
