// SPDX-License-Identifier: Apache-2.0
// core/engine/run_page.hpp - a page of memory, zeroes to begin with, that all workers of one command share. Not part of
// the SDK: slipway's own plugins tell each other there what need not be found out twice.
#pragma once

#include <string>

#include <slipway/fd.hpp>

namespace slipway::core {

class RunPage {
 public:
  /// Without the memory for it there is none, and each worker finds out by itself.
  RunPage();
  /// "SLIPWAY_RUN_PAGE=FILE" for a worker's environment; an empty FILE: there is none.
  std::string environment() const;

 private:
  Fd memory_;
};

}  // namespace slipway::core
