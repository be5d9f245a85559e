// SPDX-License-Identifier: Apache-2.0
// core/engine/ui.hpp - what the engine tells the person or program that watches it. Results go another way.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::core {

/// Called from several threads, one call at a time is not guaranteed: implementations lock.
class Ui {
 public:
  virtual ~Ui() = default;
  enum class Level { debug, info, warning };
  /// A line about a component ("" for slipway itself).
  virtual void log(Level level, const std::string& component, const std::string& text) = 0;
  /// Progress of one named step; `total` 0 while it is not known. done == total ends it.
  virtual void progress(const std::string& component, const std::string& label, std::uint64_t done,
                        std::uint64_t total) = 0;
  /// A step of an apply begins: "install", "switch", "load", …, with what it is about.
  virtual void step(const std::string& component, const std::string& text) = 0;
};

}  // namespace slipway::core
