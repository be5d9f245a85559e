// SPDX-License-Identifier: Apache-2.0
// core/engine/ui.hpp - the engine's messages to the person or program that watches it. Results are returned separately.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace slipway::core {

/// The component and phase that a message is about.
struct Subject {
  // Converts from a component's name, since most messages have no more. NOLINTBEGIN(google-explicit-constructor)
  Subject(const char* of) : component(of) {}
  Subject(std::string of, std::string during = {}) : component(std::move(of)), phase(std::move(during)) {}
  // NOLINTEND(google-explicit-constructor)
  std::string component;  ///< empty: slipway itself
  std::string phase;      ///< "detect", "switch", …: an operation of the worker, or a part of an apply; empty: none
};

/// The progress of one named step.
struct Progress {
  enum class Unit { bytes, files };
  std::string label;  ///< "download x"; the part after ": " is the current item
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 while unknown; done == total ends the step
  Unit unit = Unit::bytes;
};

/// Called from several threads, also at the same time: implementations lock.
class Ui {
 public:
  virtual ~Ui() = default;
  enum class Level { debug, info, warning };
  virtual void log(Level level, const Subject& about, const std::string& text) = 0;
  virtual void progress(const std::string& component, const Progress& progress) = 0;
  /// A step of an apply begins: "install", "switch", "load", …, with its component.
  virtual void step(const Subject& about, const std::string& text) = 0;
  /// The current work of a command that changes nothing, to show at a terminal; empty: the work is over.
  virtual void looking(const std::string& text) { (void)text; }
  /// @param watcher  receives a line, now and then, about the current work; what it borrows must live until an empty
  ///                 watcher replaces it
  virtual void set_watcher(const std::function<void(const std::string& line)>& watcher) { (void)watcher; }
};

}  // namespace slipway::core
